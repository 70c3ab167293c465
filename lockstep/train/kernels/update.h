// The arithmetic of the update rules on the CPU: one pass over a stretch of memory, in f32, f64, or bf16 with
// f32 weights kept beside it.
//
// The body is compiled once per instruction set and chosen at run time. It is plain element-wise arithmetic
// without contraction or reassociation: every copy gives the same bits, wherever a tensor is cut and
// whichever thread works on it. It uses nothing of the standard library, so that no inline function compiled
// for a newer processor can end up in code for an older one.
#pragma once

#include <cstdint>

namespace lockstep::train::kernels {

enum class Element { f32, f64, bf16 };
inline constexpr int kElementCount = 3;

constexpr std::int64_t value_bytes(Element element) {
  return element == Element::f32 ? 4 : element == Element::f64 ? 8 : 2;
}
// Of the type that arithmetic is done in and state is kept in: f32 for bf16.
constexpr std::int64_t real_bytes(Element element) {
  return element == Element::f64 ? 8 : 4;
}

// Neighbouring elements of one tensor and of what belongs to it.
struct Stretch {
  void* weight = nullptr;          // reals: the tensor itself, or the f32 master weights of a bf16 one
  void* rounded = nullptr;         // bf16 only: the tensor
  const void* gradient = nullptr;  // of the tensor's type
  void* first = nullptr;           // reals: momentum, or Adam's first moment
  void* second = nullptr;          // reals: Adam's second moment
  std::int64_t count = 0;
};

struct SgdFactors {
  double learning_rate = 0;
  double momentum = 0;  // 0: there is no first
  double weight_decay = 0;
  bool nesterov = false;
};

struct AdamFactors {
  double keep = 1;          // AdamW: what weight decay leaves of the weight
  double weight_decay = 0;  // Adam: added to the gradient
  double beta1 = 0;
  double beta2 = 0;
  double step_size = 0;        // learning rate / (1 - beta1^t)
  double root_correction = 1;  // sqrt(1 - beta2^t)
  double epsilon = 0;
};

// Indexed by Element.
struct UpdateKernels {
  void (*sgd[kElementCount])(const SgdFactors& factors, const Stretch& stretch);
  void (*adam[kElementCount])(const AdamFactors& factors, const Stretch& stretch);
  // Of one block, in double; elements i, i + 16, i + 32 ... are added in this order, then the 16 sums.
  double (*square_sum[kElementCount])(const void* values, std::int64_t count);
  void (*scale[kElementCount])(void* values, double factor, std::int64_t count);
};

// The best ones for this processor.
const UpdateKernels& update_kernels();

// All that this processor can run: the plain ones first, the best last. Returns how many were written (at
// most 3).
int runnable_update_kernels(const UpdateKernels* (&kernels)[3]);

}  // namespace lockstep::train::kernels
