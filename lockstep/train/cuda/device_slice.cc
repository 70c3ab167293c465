#include "lockstep/train/gpu.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstdlib>

#include "lockstep/base/error.h"
#include "lockstep/device/cuda/gpu_sensors.h"
#include "lockstep/device/slices.h"

namespace lockstep::train {
namespace {

constexpr const char* kPercentName = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";

std::optional<device::SliceSize> size_of_slice(const record::RunSpec& spec) {
  if (spec.device != "cuda" || !spec.slice_share || spec.precision != "bf16") return std::nullopt;
  constexpr int kTried = 132;  // on no other Hopper
  const std::optional<device::cuda::GpuKind> kind = device::cuda::kind_without_cuda();
  if (!kind || kind->multiprocessors != kTried) return std::nullopt;
  const device::SliceSize size = device::size_for_16_bits(spec.slice_share->count, kind->multiprocessors);
  return size.fitting == size.given ? std::nullopt : std::optional(size);
}

// Of those that went wrong on one slice or another, the fewest that find every such slice of an H200.
struct Product {
  std::int64_t rows, inner, columns;
};
constexpr Product kProducts[] = {{400, 16, 64}, {1600, 64, 16}, {6400, 64, 16}, {1600, 16, 48},
                                 {8, 512, 512}, {512, 8, 512},  {1000, 8, 512}, {128, 1024, 128}};

// |got - right|^2 against |right|^2: rounding to eight bits leaves far less, and NaN is never smaller.
at::Tensor is_wrong(const Product& product, const at::TensorOptions& options) {
  constexpr double kMost = 4e-4;
  const at::Tensor a = at::randn({product.rows, product.inner}, options);
  const at::Tensor b = at::randn({product.columns, product.inner}, options);
  const at::Tensor right = at::matmul(a.to(at::kFloat), b.to(at::kFloat).t());
  const at::Tensor difference = at::matmul(a, b.t()).to(at::kFloat) - right;
  return at::logical_not(difference.square().sum() < kMost * right.square().sum());
}

}  // namespace

void fit_slice(const record::RunSpec& spec) {
  const std::optional<device::SliceSize> size = size_of_slice(spec);
  if (size) ::setenv(kPercentName, fmt::format("{:.3f}", size->fitting_percent).c_str(), 1);
}

std::optional<std::string> slice_remark(const record::RunSpec& spec) {
  const std::optional<device::SliceSize> size = size_of_slice(spec);
  if (!size) return std::nullopt;
  return fmt::format(
      "each worker computes on {} of the GPU's multiprocessors, not on the {} of its slice: on so many "
      "NVIDIA's library computes 16-bit products wrong (docs/gpu.md)",
      size->fitting, size->given);
}

void require_right_products(const at::Device& device, at::ScalarType type) {
  if (!device.is_cuda() || at::elementSize(type) != 2) return;
  const at::NoGradGuard no_grad;
  const at::TensorOptions options = at::TensorOptions().device(device).dtype(type);
  at::Tensor wrong = at::zeros({}, options.dtype(at::kLong));
  for (const Product& product : kProducts) wrong += is_wrong(product, options);
  if (const auto count = wrong.item<std::int64_t>(); count > 0)
    throw base::VerificationError(fmt::format(
        "on the part of the GPU that this worker has, NVIDIA's library computes {} of {} kinds of 16-bit "
        "products wrong, and PyTorch with it (docs/gpu.md). Next step: --slice-share 12.5%, 25% or 50%, or "
        "--precision f32.",
        count, std::size(kProducts)));
}

}  // namespace lockstep::train
