// A 64-bit fingerprint of tensors, and the check that every worker's are bit-equal.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::parallel {

// Of the bytes as they lie in memory; reads each once. Any changed bit changes it, but for one chance in
// 2^64.
std::uint64_t fingerprint(const std::vector<at::Tensor>& tensors);

// Every rank's value, in rank order. Collective; purpose control.
std::vector<std::uint64_t> gather_words(comm::Communicator& communicator, std::uint64_t word);

// Throws VerificationError that names the ranks that differ from rank 0. Collective.
void require_equal_replicas(comm::Communicator& communicator, const std::vector<at::Tensor>& tensors,
                            std::int64_t step);

}  // namespace lockstep::parallel
