#include "lockstep/models/init.h"

#include <ATen/ATen.h>

#include <cmath>
#include <span>

#include "lockstep/models/philox.h"

namespace lockstep::models {
namespace {

// Draws as f32, in the tensor's logical order, whatever its type and memory format.
at::Tensor draw(const at::Tensor& tensor, const Init& init, const PhiloxStream& stream) {
  at::Tensor values = at::empty(tensor.sizes(), at::TensorOptions().dtype(at::kFloat));
  const std::span<float> out(values.data_ptr<float>(), static_cast<std::size_t>(values.numel()));
  if (init.kind == Init::Kind::uniform) {
    philox_uniform(stream, static_cast<float>(-init.value), static_cast<float>(init.value), out);
  } else {
    philox_normal(stream, static_cast<float>(init.value), out);
  }
  return values;
}

}  // namespace

Init weight_init(WeightInit family, std::int64_t fan_in, std::int64_t fan_out) {
  const auto in = static_cast<double>(fan_in);
  switch (family) {
    case WeightInit::torch_default:
      return Init::uniform(1.0 / std::sqrt(in));
    case WeightInit::kaiming_normal_in:
      return Init::normal(std::sqrt(2.0 / in));
    case WeightInit::kaiming_normal_out:
      return Init::normal(std::sqrt(2.0 / static_cast<double>(fan_out)));
    case WeightInit::kaiming_uniform:
      return Init::uniform(std::sqrt(6.0 / in));
    case WeightInit::normal_hundredth:
      return Init::normal(0.01);
    case WeightInit::normal_thousandth:
      return Init::normal(0.001);
  }
  return Init::constant(0.0);
}

Init bias_init(BiasInit family, std::int64_t fan_in) {
  if (family == BiasInit::zero) return Init::constant(0.0);
  return Init::uniform(1.0 / std::sqrt(static_cast<double>(fan_in)));
}

void fill(const at::Tensor& tensor, const Init& init, std::uint64_t seed, std::string_view name) {
  const at::NoGradGuard no_grad;
  if (init.kind == Init::Kind::constant) {
    at::Tensor(tensor).fill_(init.value);
    return;
  }
  at::Tensor(tensor).copy_(draw(tensor, init, PhiloxStream{seed, philox_hash(name)}));
}

}  // namespace lockstep::models
