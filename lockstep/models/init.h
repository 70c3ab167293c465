// How a parameter is first filled. The values come from a counter-based generator keyed by the seed and the
// parameter's name, so they depend neither on the number of workers or threads nor on what was built before.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace lockstep::models {

struct Init {
  enum class Kind { constant, uniform, normal };
  Kind kind = Kind::constant;
  double value = 0.0;  // the constant, the bound (from -bound to +bound) or the standard deviation

  static Init constant(double value) { return {Kind::constant, value}; }
  static Init uniform(double bound) { return {Kind::uniform, bound}; }
  static Init normal(double deviation) { return {Kind::normal, deviation}; }
};

// The families of distributions that torchvision's models draw weights from.
enum class WeightInit {
  torch_default,       // uniform, bound 1/sqrt(fan_in)
  kaiming_normal_in,   // normal, sqrt(2/fan_in)
  kaiming_normal_out,  // normal, sqrt(2/fan_out)
  kaiming_uniform,     // uniform, bound sqrt(6/fan_in)
  normal_hundredth,    // normal, 0.01
  normal_thousandth,   // normal, 0.001
};
enum class BiasInit { torch_default, zero };

Init weight_init(WeightInit family, std::int64_t fan_in, std::int64_t fan_out);
Init bias_init(BiasInit family, std::int64_t fan_in);

// Fills the tensor (any floating type, on any device) in place.
void fill(const at::Tensor& tensor, const Init& init, std::uint64_t seed, std::string_view name);

}  // namespace lockstep::models
