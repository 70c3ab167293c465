#include "lockstep/models/layers/shapes.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::models {
namespace {

std::int64_t side_output(std::int64_t side, const Pool2dSpec& window) {
  const std::int64_t room = side + 2 * window.padding - window.kernel;
  if (!window.ceil_mode) return room < 0 ? 0 : room / window.stride + 1;
  const std::int64_t count = (room + window.stride - 1) / window.stride + 1;
  // The last window must start inside the input or its left padding.
  return room < 1 - window.stride ? 0
                                  : count - ((count - 1) * window.stride >= side + window.padding ? 1 : 0);
}

}  // namespace

std::vector<std::int64_t> window_output(at::IntArrayRef input, std::int64_t channels,
                                        const Pool2dSpec& window, const std::string& unit) {
  const std::int64_t height = side_output(input[2], window);
  const std::int64_t width = side_output(input[3], window);
  if (height < 1 || width < 1) {
    throw base::ConfigError(
        fmt::format("unit '{}' is left with {}x{} pixels, too few for its {}x{} window: the image is too "
                    "small for this model",
                    unit, input[2], input[3], window.kernel, window.kernel));
  }
  return {input[0], channels, height, width};
}

}  // namespace lockstep::models
