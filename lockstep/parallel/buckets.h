// The memory of all buckets: one allocation of the communicator, in which every parameter's gradient has a
// place. There is no padding in a bucket: its bytes are the bytes of its gradients. Between buckets there is,
// so that each begins aligned.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/parallel/bucket_layout.h"

namespace lockstep::parallel {

class Buckets {
 public:
  // Collective. `parameters` share one type and device; there is room for any layout of up to `most` buckets.
  Buckets(std::vector<at::Tensor> parameters, std::size_t most, comm::Communicator& communicator,
          measure::MemoryAccount& memory, measure::Use use = measure::Use::buckets);
  Buckets(const Buckets&) = delete;
  Buckets& operator=(const Buckets&) = delete;

  // Gives every gradient its place; what was in the memory is lost.
  void arrange(const BucketLayout& layout);

  // The memory of all buckets, and what is between them.
  comm::Buffer whole() const;
  std::size_t count() const { return buffers_.size(); }
  const comm::Buffer& buffer(std::size_t bucket) const { return buffers_[bucket]; }
  std::size_t bucket_of(std::size_t parameter) const { return bucket_of_[parameter]; }
  // Where the parameter's gradient lies, with the parameter's sizes and strides.
  const at::Tensor& view(std::size_t parameter) const { return views_[parameter]; }

 private:
  std::vector<at::Tensor> parameters_;
  measure::Reservation reserved_;
  comm::Allocation allocation_;
  std::vector<comm::Buffer> buffers_;
  std::vector<std::size_t> bucket_of_;
  std::vector<at::Tensor> views_;
};

}  // namespace lockstep::parallel
