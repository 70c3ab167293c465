#include "lockstep/models/loss.h"

#include <ATen/ATen.h>

namespace lockstep::models {
namespace {

at::Tensor squared_error(const at::Tensor& output, const at::Tensor& target, double divisor) {
  const at::Tensor goal = target.reshape(output.sizes());
  const auto values = static_cast<double>(output.size(0) > 0 ? output.numel() / output.size(0) : 1);
  return at::mse_loss(output, goal, at::Reduction::Sum).div(values * divisor);
}

}  // namespace

std::string_view name_of(LossKind kind) {
  switch (kind) {
    case LossKind::cross_entropy:
      return "cross_entropy";
    case LossKind::mse:
      return "mse";
    case LossKind::restore:
      return "restore";
  }
  return "unknown";
}

at::Tensor loss_of(LossKind kind, const at::Tensor& output, const at::Tensor& target, double divisor) {
  if (kind != LossKind::cross_entropy) return squared_error(output, target, divisor);
  return at::cross_entropy_loss(output, target, {}, at::Reduction::Sum).div(divisor);
}

at::Tensor mean_loss(LossKind kind, const at::Tensor& output, const at::Tensor& target) {
  return loss_of(kind, output, target, static_cast<double>(output.size(0)));
}

}  // namespace lockstep::models
