// A batch norm with the shortcut that is added and the ReLU that follows, in two passes over memory forward
// and two backward. Statistics are f32.
#pragma once

#include <memory>

#include "lockstep/models/layers/layers.h"
#include "lockstep/train/cuda/layers/row_maps.h"

namespace lockstep::train {

class JoinedNorm2d final : public models::BatchNorm2d {
 public:
  JoinedNorm2d(const models::LayerOptions& options, const models::BatchNorm2dSpec& spec);
  at::Tensor forward(models::Runner& runner, const at::Tensor& input) override;
  at::Tensor forward_join(models::Runner& runner, const at::Tensor& input,
                          const at::Tensor& shortcut) override;

 protected:
  bool writes_slots() const override { return true; }

 private:
  at::Tensor train(models::Runner& runner, const at::Tensor& input, const at::Tensor& shortcut);
  at::Tensor with_running_statistics(const at::Tensor& input, const at::Tensor& shortcut) const;
  void find_statistics(models::Runner& runner, const at::Tensor& input, const at::Tensor& figures);

  std::shared_ptr<SumMemory> sums_;
};

}  // namespace lockstep::train
