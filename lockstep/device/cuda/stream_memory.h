// Streams that wait for words in memory by themselves (CUDA's stream memory operations): no kernel, hence no
// multiprocessor, is busy meanwhile. What happens to the words, nobody tells CUDA: whoever waits sees to it
// that something that does not wait itself will write them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::device::cuda {

// Why streams of this device cannot; empty when they can.
std::string why_no_stream_memory(int device);

// What comes after it on the stream begins when each of the words (their addresses as the device sees them)
// has one of the bits of `mask`. While the stream is recorded, it becomes part of the recording: every run
// waits.
void wait_for_words(std::span<const std::uint32_t* const> words, std::uint32_t mask, cudaStream_t stream);

}  // namespace lockstep::device::cuda
