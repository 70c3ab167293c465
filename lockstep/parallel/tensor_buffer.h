// The edge between tensors and communicators: views of one as the other, without copying.
#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/comm/buffer.h"

namespace lockstep::parallel {

comm::ElementType element_type(at::ScalarType type);  // throws ConfigError for one that cannot be sent

// A dense tensor's memory, in the order it lies there.
comm::Buffer buffer_of(const at::Tensor& tensor);

// A tensor on memory that somebody else owns, with the sizes, strides, type and device of `like`.
at::Tensor tensor_at(void* memory, const at::Tensor& like);

}  // namespace lockstep::parallel
