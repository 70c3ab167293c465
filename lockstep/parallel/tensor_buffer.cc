#include "lockstep/parallel/tensor_buffer.h"

#include <ATen/ATen.h>

#include "lockstep/base/error.h"

namespace lockstep::parallel {

comm::ElementType element_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return comm::ElementType::f32;
    case at::kDouble:
      return comm::ElementType::f64;
    case at::kHalf:
      return comm::ElementType::f16;
    case at::kBFloat16:
      return comm::ElementType::bf16;
    case at::kInt:
      return comm::ElementType::i32;
    case at::kLong:
      return comm::ElementType::i64;
    case at::kByte:
      return comm::ElementType::u8;
    default:
      throw base::ConfigError(fmt::format(
          "a tensor of type {} cannot be sent to other workers; make it f32, f64, f16, bf16, i32, i64 or u8.",
          at::toString(type)));
  }
}

comm::Buffer buffer_of(const at::Tensor& tensor) {
  const comm::Place place = tensor.is_cuda() ? comm::Place::device : comm::Place::host;
  return {tensor.data_ptr(), tensor.nbytes(), element_type(tensor.scalar_type()), place};
}

at::Tensor tensor_at(void* memory, const at::Tensor& like) {
  return at::from_blob(
      memory, like.sizes(), like.strides(), [](void*) {}, like.options().requires_grad(false));
}

}  // namespace lockstep::parallel
