#include "lockstep/models/options.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::models {
namespace {

constexpr std::int64_t kMost = 1'000'000;

void check_range(std::string_view field, std::int64_t value) {
  if (value >= 0 && value <= kMost) return;
  throw base::ConfigError(fmt::format("model option {} is {}; it must lie between 1 and {} (or be left out)",
                                      field, value, kMost));
}

std::int64_t choose(std::string_view model, std::string_view field, std::int64_t asked, std::int64_t own) {
  if (asked == 0) return own;
  if (own == 0)
    throw base::ConfigError(fmt::format("model '{}' has no option {} (asked for: {})", model, field, asked));
  return asked;
}

void check_channels(std::string_view model, const ModelLimits& limits, std::int64_t channels) {
  if (limits.channels_adapt || channels == limits.channels) return;
  throw base::ConfigError(
      fmt::format("model '{}' takes {} channels, not {}: its weights interchange with torchvision's. Grey "
                  "data must be repeated on {} channels",
                  model, limits.channels, channels, limits.channels));
}

void check_side(std::string_view model, const ModelLimits& limits, std::string_view field,
                std::int64_t side) {
  if (side < limits.smallest_image) {
    throw base::ConfigError(
        fmt::format("model '{}' cannot take an image with {} = {}: the smallest is {}. Use --image-size {}",
                    model, field, side, limits.smallest_image, limits.smallest_default));
  }
  if (side % limits.side_multiple == 0) return;
  const std::int64_t nearest = (side / limits.side_multiple + 1) * limits.side_multiple;
  throw base::ConfigError(
      fmt::format("model '{}' needs image sides that are multiples of {}; {} is {}. Use --image-size {}",
                  model, limits.side_multiple, field, side, nearest));
}

}  // namespace

void ModelOptions::validate() const {
  check_range("classes", classes);
  check_range("channels", channels);
  check_range("image_height", image_height);
  check_range("image_width", image_width);
  check_range("width", width);
  check_range("depth", depth);
  check_range("heads", heads);
}

ModelOptions resolve(std::string_view model, const ModelLimits& limits, const ModelOptions& asked) {
  asked.validate();
  ModelOptions options;
  options.classes = choose(model, "classes", asked.classes, limits.classes);
  options.channels = choose(model, "channels", asked.channels, limits.channels);
  options.image_height = choose(model, "image_height", asked.image_height, limits.image_height);
  options.image_width = choose(model, "image_width", asked.image_width, limits.image_width);
  options.width = choose(model, "width", asked.width, limits.width);
  options.depth = choose(model, "depth", asked.depth, limits.depth);
  options.heads = choose(model, "heads", asked.heads, limits.heads);
  check_channels(model, limits, options.channels);
  check_side(model, limits, "image_height", options.image_height);
  check_side(model, limits, "image_width", options.image_width);
  return options;
}

}  // namespace lockstep::models
