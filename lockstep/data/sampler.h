// Which samples a rank works on in which step.
//
// All ranks make the same global order of an epoch, from the seed and the epoch alone. Step k takes the
// samples [k g, (k+1) g) of that order, g being the global batch, and rank r the r-th of N contiguous shares
// of them. So every sample is used exactly once an epoch, and the samples of a step do not depend on N.
// Shares differ by one sample at most; in the last step of an epoch a rank may have none.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::data {

// The part-th of `parts` contiguous shares of [0, total): the first total % parts of them are one larger.
struct Share {
  std::size_t begin;
  std::size_t count;
};
Share share_of(std::size_t total, std::size_t parts, std::size_t part);

struct SamplerOptions {
  std::size_t samples = 0;
  std::size_t global_batch = 0;
  int world = 1;
  int rank = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool same_every_epoch = false;  // as a sampler that is never told the epoch

  void validate() const;  // throws ConfigError
};

// The step that comes next: what a checkpoint keeps.
struct SamplerPosition {
  std::uint64_t epoch = 0;
  std::size_t step = 0;
  bool operator==(const SamplerPosition&) const = default;
};

struct StepPlan {
  SamplerPosition position;
  std::vector<std::uint32_t> samples;  // this rank's; may be empty
  std::size_t global_count = 0;        // of all ranks
  // What multiplies this rank's mean loss so that the average over ranks is the mean over all samples of the
  // step: N n / b for n of b samples. 0 without samples.
  double weight = 0;
  bool last_of_epoch = false;
};

// The order of an epoch: the indices sorted by a key that is mixed from seed, epoch and index.
std::vector<std::uint32_t> shuffled_order(std::size_t samples, std::uint64_t seed, std::uint64_t epoch);

// Not for several threads at once.
class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options);

  std::size_t steps_per_epoch() const;
  StepPlan plan(SamplerPosition position);
  SamplerPosition after(SamplerPosition position) const;
  const SamplerOptions& options() const { return options_; }
  // The most samples a step can have for this rank.
  std::size_t largest_share() const;

 private:
  const std::vector<std::uint32_t>& order(std::uint64_t epoch);

  SamplerOptions options_;
  std::vector<std::uint32_t> order_;
  std::uint64_t order_epoch_ = 0;
};

}  // namespace lockstep::data
