#include "lockstep/comm/gloo/native_all_reduce.h"

#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>

#include <array>
#include <cstring>

namespace lockstep::comm {

std::span<const std::string_view> native_algorithms() {
  static constexpr std::array<std::string_view, 4> kNames = {
      "native-ring", "native-bcube", "native-ring-chunked", "native-halving-doubling"};
  return kNames;
}

NativeAllReduce::NativeAllReduce(std::shared_ptr<gloo::Context> context, std::string algorithm)
    : context_(std::move(context)), algorithm_(std::move(algorithm)) {}

NativeAllReduce::~NativeAllReduce() = default;

bool NativeAllReduce::can_run(const Operation& operation) {
  return operation.collective == Collective::all_reduce && operation.reduce_op == ReduceOp::sum &&
         operation.type() == ElementType::f32 && operation.input.bytes > 0;
}

void NativeAllReduce::run(const Operation& operation, std::chrono::milliseconds timeout) {
  if (operation.output.data != operation.input.data)
    std::memcpy(operation.output.data, operation.input.data, operation.input.bytes);
  if (algorithm_ != "native-ring" && algorithm_ != "native-bcube") return run_bound(operation);
  gloo::AllreduceOptions options(context_);
  options.setAlgorithm(algorithm_ == "native-ring" ? gloo::AllreduceOptions::Algorithm::RING
                                                   : gloo::AllreduceOptions::Algorithm::BCUBE);
  options.setOutput(static_cast<float*>(operation.output.data), operation.output.count());
  options.setReduceFunction([](void* result, const void* a, const void* b, std::size_t count) {
    gloo::sum<float>(result, a, b, count);
  });
  options.setTimeout(timeout);
  gloo::allreduce(options);
}

void NativeAllReduce::run_bound(const Operation& operation) {
  auto* data = static_cast<float*>(operation.output.data);
  const std::size_t count = operation.output.count();
  if (bound_data_ != data || bound_count_ != count) {
    bound_.reset();
    const std::vector<float*> pointers{data};
    const int elements = static_cast<int>(count);
    if (algorithm_ == "native-ring-chunked")
      bound_ = std::make_unique<gloo::AllreduceRingChunked<float>>(context_, pointers, elements);
    else
      bound_ = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context_, pointers, elements);
    bound_data_ = data;
    bound_count_ = count;
  }
  bound_->run();
}

}  // namespace lockstep::comm
