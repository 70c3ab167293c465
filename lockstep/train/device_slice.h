// A worker on a slice of a GPU, and what its libraries can do there. Defined by cuda/ or by a stub.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "lockstep/record/spec.h"

namespace lockstep::train {

// Makes this process's slice small enough for right products of 16-bit numbers (device/slices.h), where the
// spec asks for them and for a slice. Before anything of CUDA begins, and before there are threads.
void fit_slice(const record::RunSpec& spec);

// What fit_slice() has changed, for people; nothing: nothing.
std::optional<std::string> slice_remark(const record::RunSpec& spec);

// Throws VerificationError, with the next step, where `type` has 16 bits and the library's products of it are
// not what they are in f32. Some milliseconds.
void require_right_products(const at::Device& device, at::ScalarType type);

}  // namespace lockstep::train
