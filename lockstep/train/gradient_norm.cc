// Norms and factors of whole gradients.
#include <ATen/Parallel.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/square.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sum.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "lockstep/train/kernels/update.h"
#include "lockstep/train/optimizer.h"
#include "lockstep/train/optimizers/host_list.h"

namespace lockstep::train {
namespace {

// Sums are made of blocks of this many elements, counted from the start of each tensor: which thread made
// which has no influence on the result.
constexpr std::int64_t kBlockElements = 8192;
constexpr std::int64_t kBlocksPerThread = 8;

struct Block {
  kernels::Element element;
  const char* begin;
  std::int64_t count;
};

void append_blocks(const parallel::Updatable& updatable, const at::Tensor& gradient,
                   std::vector<Block>& blocks) {
  const kernels::Element element = element_of(updatable);
  const auto* data = static_cast<const char*>(gradient.data_ptr());
  for (std::int64_t at = 0; at < gradient.numel(); at += kBlockElements) {
    blocks.push_back({element, data + at * kernels::value_bytes(element),
                      std::min(kBlockElements, gradient.numel() - at)});
  }
}

double sum_of(const std::vector<Block>& blocks) {
  const kernels::UpdateKernels& kernels = kernels::update_kernels();
  std::vector<double> sums(blocks.size());
  at::parallel_for(0, static_cast<std::int64_t>(blocks.size()), kBlocksPerThread,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const Block& block = blocks[static_cast<std::size_t>(i)];
                       sums[static_cast<std::size_t>(i)] =
                           kernels.square_sum[static_cast<int>(block.element)](block.begin, block.count);
                     }
                   });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

double square_norm_on_host(std::span<const parallel::Updatable> updatables) {
  std::vector<Block> blocks;
  std::vector<at::Tensor> gradients;
  for (const parallel::Updatable& updatable : updatables) {
    if (!updatable.gradient.defined()) continue;
    gradients.push_back(aligned_gradient(updatable));
    append_blocks(updatable, gradients.back(), blocks);
  }
  return sum_of(blocks);
}

double square_norm_on_device(std::span<const parallel::Updatable> updatables) {
  std::vector<at::Tensor> norms;
  for (const parallel::Updatable& updatable : updatables) {
    if (updatable.gradient.defined()) norms.push_back(at::norm(updatable.gradient, 2, at::kDouble));
  }
  return norms.empty() ? 0.0 : at::stack(norms).square().sum().item<double>();
}

bool on_device(std::span<const parallel::Updatable> updatables) {
  return !updatables.empty() && !updatables.front().value.is_cpu();
}

}  // namespace

double square_norm(std::span<const parallel::Updatable> updatables) {
  const c10::AutoGradMode no_grad(false);
  return on_device(updatables) ? square_norm_on_device(updatables) : square_norm_on_host(updatables);
}

void scale_gradients(std::span<const parallel::Updatable> updatables, double factor) {
  const c10::AutoGradMode no_grad(false);
  HostList list;
  for (const parallel::Updatable& updatable : updatables) {
    at::Tensor gradient = updatable.gradient;
    if (!gradient.defined()) continue;
    const bool of_one_type = gradient.scalar_type() == updatable.value.scalar_type();
    if (of_one_type && gradient.is_cpu() && gradient.is_non_overlapping_and_dense()) {
      kernels::Stretch whole;
      whole.rounded = gradient.data_ptr();
      whole.count = gradient.numel();
      list.add(element_of(updatable), whole);
    } else {
      gradient.mul_(factor);
    }
  }
  const kernels::UpdateKernels& kernels = kernels::update_kernels();
  list.for_each_stretch([&](kernels::Element element, const kernels::Stretch& stretch) {
    kernels.scale[static_cast<int>(element)](stretch.rounded, factor, stretch.count);
  });
}

double clip_factor(double gradient_square_norm, double largest_norm) {
  // PyTorch's clip_grad_norm_ adds this to the norm, so that a gradient of zeros is no division by zero.
  constexpr double kLittle = 1e-6;
  const double factor = largest_norm / (std::sqrt(gradient_square_norm) + kLittle);
  return factor > 1 ? 1 : factor;
}

}  // namespace lockstep::train
