// The shape of what a sliding window (a convolution or a pool) makes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/models/layer_factory.h"

namespace lockstep::models {

// [batch, channels, height, width] after the window has passed over an input of the given sizes. Throws
// ConfigError, naming the unit, when the input is smaller than the window.
std::vector<std::int64_t> window_output(at::IntArrayRef input, std::int64_t channels,
                                        const Pool2dSpec& window, const std::string& unit);

}  // namespace lockstep::models
