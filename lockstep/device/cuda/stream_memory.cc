#include "lockstep/device/cuda/stream_memory.h"

#include <cuda.h>
#include <fmt/format.h>

#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/driver.h"
#include "lockstep/device/cuda/graph_nodes.h"

namespace lockstep::device::cuda {
namespace {

// CUDA takes fewer than 256 in one call.
constexpr std::size_t kMostOperations = 128;

using Operations = std::vector<CUstreamBatchMemOpParams>;

Operations waits_for(std::span<const std::uint32_t* const> words, std::uint32_t mask) {
  Operations operations(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    operations[i] = {};
    operations[i].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operations[i].waitValue.address = reinterpret_cast<CUdeviceptr>(words[i]);
    operations[i].waitValue.value = mask;
    operations[i].waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
  }
  return operations;
}

cudaGraphNode_t add_node(const Driver& driver, const Recording& recording, Operations& operations) {
  CUDA_BATCH_MEM_OP_NODE_PARAMS parameters{};
  check_driver(driver.current_context(&parameters.ctx), "asking for the CUDA context");
  parameters.count = static_cast<unsigned>(operations.size());
  parameters.paramArray = operations.data();
  CUgraphNode node = nullptr;
  check_driver(driver.add_memory_node(&node, recording.graph, recording.after.data(), recording.after.size(),
                                      &parameters),
               "recording a wait for words in memory");
  return node;
}

}  // namespace

std::string why_no_stream_memory(int device) {
  const Driver& driver = Driver::get();
  if (driver.stream_memory == nullptr || driver.add_memory_node == nullptr ||
      driver.device_attribute == nullptr)
    return "NVIDIA's driver has no memory operations on streams (it is older than CUDA 11.7)";
  int can = 0;
  check_driver(driver.device_attribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, device),
               "asking whether streams can wait for memory");
  return can != 0 ? "" : fmt::format("streams of CUDA device {} cannot wait for memory", device);
}

void wait_for_words(std::span<const std::uint32_t* const> words, std::uint32_t mask, cudaStream_t stream) {
  if (words.empty()) return;
  if (words.size() > kMostOperations) throw base::DeviceError("too many words to wait for at once");
  const Driver& driver = Driver::get();
  Operations operations = waits_for(words, mask);
  if (const std::optional<Recording> recording = recording_of(stream))
    go_on_after(stream, add_node(driver, *recording, operations));
  else
    check_driver(driver.stream_memory(stream, static_cast<unsigned>(operations.size()), operations.data(), 0),
                 "letting a CUDA stream wait for words in memory");
}

}  // namespace lockstep::device::cuda
