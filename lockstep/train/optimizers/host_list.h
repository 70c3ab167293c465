// A list of tensors in host memory as one long row of elements, worked through in one pass by all threads:
// neither many small tensors nor one large one leaves a thread idle. Where the row is cut has no influence on
// any result.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <vector>

#include "lockstep/parallel/strategy.h"
#include "lockstep/train/kernels/update.h"

namespace lockstep::train {

// Of the gradient's and the value's type. Throws ConfigError that names the tensor when it is neither f32,
// f64 nor bf16.
kernels::Element element_of(const parallel::Updatable& updatable);

// The gradient, in the memory order of the value: itself nearly always, else a copy. Throws ConfigError when
// the value is not dense, or the gradient of another type, shape or device.
at::Tensor aligned_gradient(const parallel::Updatable& updatable);

class HostList {
 public:
  void clear();
  // The whole of one tensor: its pointers must stay good until the work is done.
  void add(kernels::Element element, const kernels::Stretch& whole);

  // Calls work for stretches that together cover every element once, on at::get_num_threads() threads. A
  // stretch is short enough to stay in the second cache.
  using Work = std::function<void(kernels::Element element, const kernels::Stretch& stretch)>;
  void for_each_stretch(const Work& work) const;

 private:
  struct Slot {
    kernels::Element element;
    kernels::Stretch whole;
    std::int64_t begin;  // elements of the row before it
  };
  void work_through(std::int64_t begin, std::int64_t end, const Work& work) const;

  std::vector<Slot> slots_;
  std::int64_t elements_ = 0;
};

}  // namespace lockstep::train
