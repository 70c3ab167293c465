// Stochastic gradient descent with weight decay, momentum and Nesterov's form of it, as PyTorch defines it:
//
//   g = gradient + weight_decay * weight
//   m = momentum * m + g                       (m starts at 0, so that the first m is g; no dampening)
//   weight -= learning_rate * m                (Nesterov: g + momentum * m)
#pragma once

#include "lockstep/train/optimizers/fused_optimizer.h"

namespace lockstep::train {

struct SgdOptions {
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

class Sgd final : public FusedOptimizer {
 public:
  explicit Sgd(const SgdOptions& options);

 private:
  std::span<const std::byte> set_factors(std::int64_t step, double learning_rate) override;
  void apply(const HostList& list) override;
  void apply(const DeviceList& list) override;

  SgdOptions options_;
  kernels::SgdFactors factors_;
};

}  // namespace lockstep::train
