#include "lockstep/parallel/buckets.h"

#include <ATen/ATen.h>

#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {
namespace {

// The last bucket needs nothing behind it.
std::size_t room_for(const std::vector<at::Tensor>& tensors, std::size_t buckets) {
  std::size_t bytes = buckets > 1 ? (buckets - 1) * kBucketAlignment : 0;
  for (const at::Tensor& tensor : tensors) bytes += tensor.nbytes();
  return bytes;
}

}  // namespace

Buckets::Buckets(std::vector<at::Tensor> parameters, std::size_t most, comm::Communicator& communicator,
                 measure::MemoryAccount& memory, measure::Use use)
    : parameters_(std::move(parameters)),
      reserved_(memory, use, room_for(parameters_, most)),
      allocation_(communicator.allocate(room_for(parameters_, most))),
      bucket_of_(parameters_.size()),
      views_(parameters_.size()) {}

comm::Buffer Buckets::whole() const {
  return allocation_.buffer(element_type(parameters_.front().scalar_type()));
}

void Buckets::arrange(const BucketLayout& layout) {
  buffers_.clear();
  if (parameters_.empty()) return;
  const comm::Buffer all = whole();
  std::size_t offset = 0;
  for (const auto& bucket : layout.buckets) {
    offset = aligned_for_a_bucket(offset);
    const std::size_t begin = offset;
    for (const std::size_t parameter : bucket) {
      const at::Tensor& like = parameters_[parameter];
      views_[parameter] = tensor_at(all.part(offset, like.nbytes()).data, like);
      bucket_of_[parameter] = buffers_.size();
      offset += like.nbytes();
    }
    buffers_.push_back(all.part(begin, offset - begin));
  }
}

}  // namespace lockstep::parallel
