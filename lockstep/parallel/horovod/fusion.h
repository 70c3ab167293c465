// Which ready tensors go through the fusion buffer together. Neighbours in the order of the responses are
// fused until the next one would not fit; a tensor larger than the threshold goes alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::parallel::horovod {

using FusedGroup = std::vector<std::size_t>;  // of tensors

// `bytes` holds the bytes of every tensor as it is sent.
std::vector<FusedGroup> plan_fusion(std::span<const std::size_t> ready, std::span<const std::uint64_t> bytes,
                                    std::uint64_t threshold);

// How large the buffer must be for any plan in which every tensor passes through it.
std::uint64_t fusion_buffer_bytes(std::span<const std::uint64_t> bytes, std::uint64_t threshold);

}  // namespace lockstep::parallel::horovod
