// What preparing a batch costs on one core: median milliseconds for 128 samples, and samples per second. It
// must stay well below a training step: lenet5 trains about 20,000 images a second on a core.
#include <fmt/format.h>

#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/base/statistics.h"
#include "lockstep/data/data_set.h"

namespace {

namespace base = lockstep::base;
namespace data = lockstep::data;

constexpr std::size_t kBatch = 128;
constexpr int kBatches = 60;

struct Case {
  const char* name;
  data::ImageShape stored;
  data::ImageShape input;
  bool augment;
};

// Random bytes: what they show does not matter for the time.
std::shared_ptr<const data::SampleSet> random_set(const data::ImageShape& shape) {
  constexpr std::size_t kSamples = 2048;
  auto set = std::make_shared<data::SampleSet>();
  std::vector<std::uint8_t> pixels(kSamples * shape.elements());
  std::uint32_t state = 1;
  for (std::uint8_t& pixel : pixels)
    pixel = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  set->images = data::ImageStore(shape, std::move(pixels));
  set->labels.assign(kSamples, 0);
  set->classes = 1;
  return set;
}

double seconds_per_batch(const Case& measured) {
  const auto set = random_set(measured.stored);
  data::TransformOptions transform;
  transform.input = measured.input;
  transform.crop = transform.flip = measured.augment;
  data::LoaderOptions options;
  options.threads = 0;
  data::Loader loader(set, transform, {set->size(), kBatch, 1, 0, 1, true}, options);
  std::vector<double> seconds;
  for (int i = 0; i < kBatches; ++i) {
    const base::TimePoint began = base::now();
    loader.next();
    seconds.push_back(base::to_seconds(base::now() - began));
  }
  return base::median(seconds);
}

}  // namespace

int main() {
  const std::vector<Case> cases = {{"28x28 grey", {1, 28, 28}, {1, 28, 28}, false},
                                   {"32x32 colour, crop and flip", {3, 32, 32}, {3, 32, 32}, true},
                                   {"28x28 grey to 3x32x32", {1, 28, 28}, {3, 32, 32}, false},
                                   {"28x28 grey to 3x64x64", {1, 28, 28}, {3, 64, 64}, false},
                                   {"3x66x200", {3, 66, 200}, {3, 66, 200}, false}};
  fmt::print("{:<30} {:>14} {:>14}\n", "batch of 128", "ms", "samples/s");
  for (const Case& measured : cases) {
    const double seconds = seconds_per_batch(measured);
    fmt::print("{:<30} {:>14.3f} {:>14.0f}\n", measured.name, 1e3 * seconds,
               static_cast<double>(kBatch) / seconds);
  }
}
