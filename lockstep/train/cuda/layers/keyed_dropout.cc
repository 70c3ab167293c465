#include "lockstep/train/cuda/layers/keyed_dropout.h"

#include <ATen/ATen.h>

#include "lockstep/device/cuda/kernels/dropout.h"
#include "lockstep/models/layers/direct.h"
#include "lockstep/models/philox.h"
#include "lockstep/models/runner.h"
#include "lockstep/parallel/cuda/torch_stream.h"

namespace lockstep::train {
namespace {

using device::cuda::DropoutElement;
using device::cuda::DropoutTask;

DropoutElement element_of(at::ScalarType type) {
  if (type == at::kDouble) return DropoutElement::f64;
  return type == at::kBFloat16 ? DropoutElement::bf16 : DropoutElement::f32;
}

bool in_channels_last(const at::Tensor& map) {
  return map.dim() == 4 && !map.is_contiguous() && map.is_contiguous(at::MemoryFormat::ChannelsLast);
}

// The same memory order as `like`, in which the task's mask is meant.
at::Tensor in_order_of(const at::Tensor& map, bool channels_last) {
  return map.contiguous(channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

at::Tensor masked(DropoutTask task, const at::Tensor& map) {
  at::Tensor out = at::empty_like(map);
  task.input = map.data_ptr();
  task.output = out.data_ptr();
  device::cuda::dropout(task, parallel::torch_stream());
  return out;
}

struct DropoutNode : models::Node {
  DropoutTask task;

  models::variable_list apply(models::variable_list&& gradients) override {
    if (!gradients[0].defined()) return {at::Tensor()};
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    return {masked(task, in_order_of(gradients[0], task.channels != 0))};
  }
};

}  // namespace

at::Tensor KeyedDropout::forward(models::Runner& runner, const at::Tensor& input) {
  const models::PassKey& key = runner.key();
  if (!key.training || probability_ == 0.0) return input;
  if (key.device_step == nullptr) return Dropout::forward(runner, input);
  DropoutTask task;
  task.element = element_of(input.scalar_type());
  task.rows = input.size(0);
  task.row_elements = task.rows > 0 ? input.numel() / task.rows : 0;
  task.channels = in_channels_last(input) ? input.size(1) : 0;
  task.seed = key.seed;
  task.layer = models::philox_hash(path());
  task.step = key.device_step;
  task.samples = key.device_samples;
  task.probability = probability_;
  at::Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    out = masked(task, in_order_of(input, task.channels != 0));
  }
  if (!models::needs_backward(input)) return out;
  auto node = models::make_node<DropoutNode>();
  node->task = task;
  return models::with_history(node, out, input);
}

}  // namespace lockstep::train
