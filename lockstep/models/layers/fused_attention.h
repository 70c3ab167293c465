// Attention of separate heads with a fused kernel where there is one.
#pragma once

#include "lockstep/models/layers/layers.h"

namespace lockstep::models {

class FusedHeadAttention : public HeadAttention {
 public:
  using HeadAttention::HeadAttention;
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 protected:
  bool writes_slots() const override {
    return weights_.front().is_cpu() && weights_.front().scalar_type() == at::kFloat;
  }

 private:
  bool is_fused(const at::Tensor& input) const;
};

}  // namespace lockstep::models
