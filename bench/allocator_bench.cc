// What a tensor costs: nanoseconds to allocate, touch and free one by libtorch's own allocator and by the
// counting one. Touched is the first byte of every page, as a kernel that writes the tensor does: that is
// where memory that went back to the kernel is paid for.
#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/base/statistics.h"
#include "lockstep/base/units.h"
#include "lockstep/measure/torch/counting_allocator.h"

namespace {

using namespace lockstep;

constexpr int kRepeats = 11;
constexpr std::size_t kPage = 4096;

void use_once(c10::Allocator& allocator, std::size_t bytes) {
  const c10::DataPtr data = allocator.allocate(bytes);
  auto* const memory = static_cast<volatile std::byte*>(data.get());
  for (std::size_t i = 0; i < bytes; i += kPage) memory[i] = std::byte{1};
}

double median_nanoseconds(c10::Allocator& allocator, std::size_t bytes) {
  const int times = bytes >= (1u << 20) ? 50 : 20'000;
  std::vector<double> samples;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto start = base::now();
    for (int i = 0; i < times; ++i) use_once(allocator, bytes);
    samples.push_back(base::to_seconds(base::now() - start) * 1e9 / times);
  }
  return base::median(samples);
}

std::vector<double> measured(const std::vector<std::size_t>& sizes) {
  std::vector<double> nanoseconds;
  for (const std::size_t bytes : sizes)
    nanoseconds.push_back(median_nanoseconds(*c10::GetCPUAllocator(), bytes));
  return nanoseconds;
}

}  // namespace

int main() {
  const std::vector<std::size_t> sizes = {64, 4096, 65'536, 262'144, 1u << 20, 8u << 20, 64u << 20};
  const auto own = measured(sizes);  // first: installing also tunes malloc
  measure::install_counting_allocator(std::make_shared<measure::MemoryAccount>());
  const auto counting = measured(sizes);
  fmt::print("{:>10} {:>14} {:>14}\n", "bytes", "libtorch's ns", "counting ns");
  for (std::size_t i = 0; i < sizes.size(); ++i)
    fmt::print("{:>10} {:>14.0f} {:>14.0f}\n", base::format_bytes(sizes[i]), own[i], counting[i]);
}
