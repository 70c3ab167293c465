// Dropout whose mask is made in the pass that uses it, forward and again backward, from the same key as the
// CPU's: the mask is never stored.
#pragma once

#include "lockstep/models/layers/layers.h"

namespace lockstep::train {

class KeyedDropout final : public models::Dropout {
 public:
  explicit KeyedDropout(double probability) : Dropout(probability), probability_(probability) {}
  at::Tensor forward(models::Runner& runner, const at::Tensor& input) override;

 private:
  double probability_;
};

}  // namespace lockstep::train
