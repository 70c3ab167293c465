// Adam and AdamW as PyTorch defines them, at step t = 1, 2, ...:
//
//   AdamW: weight *= 1 - learning_rate * weight_decay        Adam: g = gradient + weight_decay * weight
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   weight -= learning_rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
#pragma once

#include "lockstep/train/optimizers/fused_optimizer.h"

namespace lockstep::train {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // AdamW: decay shrinks the weight and stays out of the moments
};

class Adam final : public FusedOptimizer {
 public:
  explicit Adam(const AdamOptions& options);

 private:
  std::span<const std::byte> set_factors(std::int64_t step, double learning_rate) override;
  void apply(const HostList& list) override;
  void apply(const DeviceList& list) override;
  kernels::AdamFactors factors_at(std::int64_t step, double learning_rate) const;

  AdamOptions options_;
  kernels::AdamFactors factors_;
};

}  // namespace lockstep::train
