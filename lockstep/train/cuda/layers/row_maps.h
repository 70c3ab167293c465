// Tensors in channels-last order as the kernels see them.
#pragma once

#include <ATen/ATen.h>

#include "lockstep/device/cuda/kernels/row_shape.h"
#include "lockstep/models/layer_factory.h"

namespace lockstep::train {

// Whether maps of so many channels go through the kernels for rows.
inline bool has_row_kernels(const models::LayerOptions& options, std::int64_t channels) {
  return options.device.is_cuda() && options.dtype == at::kBFloat16 && options.channels_last &&
         channels % device::cuda::kOctet == 0;
}

inline at::Tensor in_rows(const at::Tensor& map) {
  return map.contiguous(at::MemoryFormat::ChannelsLast);
}

inline device::cuda::RowShape row_shape(const at::Tensor& map) {
  return {map.numel() / map.size(1), map.size(1)};
}

// Where sums over rows are made. The counters of arrivals are zero between uses, so they stay; partial sums
// are memory of the moment.
class SumMemory {
 public:
  SumMemory(const at::Device& device, std::int64_t channels)
      : arrivals_(at::zeros({channels / device::cuda::kOctet},
                            at::TensorOptions().dtype(at::kInt).device(device))) {}

  // The tensor keeps the partial sums until it goes.
  device::cuda::SumSpace take(const device::cuda::RowShape& shape, at::Tensor& partials) const {
    partials = at::empty({device::cuda::sum_partials(shape)}, arrivals_.options().dtype(at::kFloat));
    return {partials.data_ptr<float>(), static_cast<std::uint32_t*>(arrivals_.data_ptr())};
  }

 private:
  at::Tensor arrivals_;
};

}  // namespace lockstep::train
