#include "lockstep/train/optimizers/host_list.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep::train {
namespace {

constexpr std::int64_t kStretchElements = 8192;
// Waking a thread costs a few microseconds: what it takes to update about this many elements.
constexpr std::int64_t kElementsPerThread = 32768;

template <class Pointer>
Pointer advanced(Pointer pointer, std::int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const char, char>;
  return pointer == nullptr ? nullptr : static_cast<Byte*>(pointer) + bytes;
}

kernels::Stretch part_of(kernels::Element element, const kernels::Stretch& whole, std::int64_t begin,
                         std::int64_t count) {
  const std::int64_t real = begin * kernels::real_bytes(element),
                     value = begin * kernels::value_bytes(element);
  return {advanced(whole.weight, real), advanced(whole.rounded, value), advanced(whole.gradient, value),
          advanced(whole.first, real),  advanced(whole.second, real),   count};
}

// Whether both keep their elements in the same order. The stride of a dimension of length 1 means nothing.
bool same_order(const at::Tensor& one, const at::Tensor& other) {
  for (std::int64_t d = 0; d < one.dim(); ++d) {
    if (one.size(d) != 1 && one.stride(d) != other.stride(d)) return false;
  }
  return true;
}

[[noreturn]] void refuse(const parallel::Updatable& updatable, const std::string& why) {
  throw base::ConfigError(fmt::format("the optimiser cannot update '{}': {}", updatable.name, why));
}

}  // namespace

kernels::Element element_of(const parallel::Updatable& updatable) {
  switch (updatable.value.scalar_type()) {
    case at::kFloat:
      return kernels::Element::f32;
    case at::kDouble:
      return kernels::Element::f64;
    case at::kBFloat16:
      return kernels::Element::bf16;
    default:
      refuse(updatable, fmt::format("its type is {}; f32, f64 and bf16 can be trained",
                                    at::toString(updatable.value.scalar_type())));
  }
}

at::Tensor aligned_gradient(const parallel::Updatable& updatable) {
  const at::Tensor &value = updatable.value, &gradient = updatable.gradient;
  if (gradient.sizes() != value.sizes() || gradient.scalar_type() != value.scalar_type() ||
      gradient.device() != value.device()) {
    refuse(updatable, "its gradient is of another shape, type or device");
  }
  if (value.is_contiguous() && gradient.is_contiguous()) return gradient;
  if (!value.is_non_overlapping_and_dense()) refuse(updatable, "it is not dense in memory");
  if (same_order(value, gradient)) return gradient;
  return at::empty_like(value).copy_(gradient);
}

void HostList::clear() {
  slots_.clear();
  elements_ = 0;
}

void HostList::add(kernels::Element element, const kernels::Stretch& whole) {
  if (whole.count == 0) return;
  slots_.push_back({element, whole, elements_});
  elements_ += whole.count;
}

void HostList::for_each_stretch(const Work& work) const {
  at::parallel_for(0, elements_, kElementsPerThread,
                   [&](std::int64_t begin, std::int64_t end) { work_through(begin, end, work); });
}

void HostList::work_through(std::int64_t begin, std::int64_t end, const Work& work) const {
  auto slot = std::upper_bound(slots_.begin(), slots_.end(), begin,
                               [](std::int64_t at, const Slot& one) { return at < one.begin; });
  for (--slot; begin < end; ++slot) {
    const std::int64_t stop = std::min(end, slot->begin + slot->whole.count);
    while (begin < stop) {
      const std::int64_t count = std::min(stop - begin, kStretchElements);
      work(slot->element, part_of(slot->element, slot->whole, begin - slot->begin, count));
      begin += count;
    }
  }
}

}  // namespace lockstep::train
