// gloo's own all-reduces, for comparison with ours: f32 sums only, and without exact wire bytes.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lockstep/comm/operation.h"

namespace gloo {
class Algorithm;
}

namespace lockstep::comm {

// "native-ring", "native-bcube", "native-ring-chunked", "native-halving-doubling"
std::span<const std::string_view> native_algorithms();

class NativeAllReduce {
 public:
  NativeAllReduce(std::shared_ptr<gloo::Context> context, std::string algorithm);
  ~NativeAllReduce();

  static bool can_run(const Operation& operation);
  void run(const Operation& operation, std::chrono::milliseconds timeout);

 private:
  // The class-based algorithms are bound to memory; the last one is kept, as buffers tend to be used again.
  void run_bound(const Operation& operation);

  std::shared_ptr<gloo::Context> context_;
  std::string algorithm_;
  std::unique_ptr<gloo::Algorithm> bound_;
  const void* bound_data_ = nullptr;
  std::size_t bound_count_ = 0;
};

}  // namespace lockstep::comm
