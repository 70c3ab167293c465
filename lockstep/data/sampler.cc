#include "lockstep/data/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/keyed_random.h"

namespace lockstep::data {

Share share_of(std::size_t total, std::size_t parts, std::size_t part) {
  const std::size_t even = total / parts;
  const std::size_t larger = total % parts;
  return {part * even + std::min(part, larger), even + (part < larger ? 1 : 0)};
}

void SamplerOptions::validate() const {
  if (samples == 0) throw base::ConfigError("there are no samples to draw from.");
  if (samples > UINT32_MAX)
    throw base::ConfigError(fmt::format("{} samples are too many: 2^32 - 1 at most.", samples));
  if (global_batch == 0) throw base::ConfigError("global_batch is 0: it must be at least 1.");
  if (world < 1 || rank < 0 || rank >= world) {
    throw base::ConfigError(fmt::format("rank {} is not below the world's size {}.", rank, world));
  }
}

std::vector<std::uint32_t> shuffled_order(std::size_t samples, std::uint64_t seed, std::uint64_t epoch) {
  const auto stream = static_cast<std::uint64_t>(base::RandomStream::shuffle);
  const std::uint64_t key = base::mix_key({stream, seed, epoch});
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keyed(samples);
  for (std::uint32_t i = 0; i < samples; ++i) keyed[i] = {base::mix_bits(key ^ i), i};
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::uint32_t> order(samples);
  std::transform(keyed.begin(), keyed.end(), order.begin(), [](const auto& pair) { return pair.second; });
  return order;
}

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  options_.validate();
}

std::size_t Sampler::steps_per_epoch() const {
  return (options_.samples + options_.global_batch - 1) / options_.global_batch;
}

std::size_t Sampler::largest_share() const {
  return share_of(std::min(options_.global_batch, options_.samples), static_cast<std::size_t>(options_.world),
                  0)
      .count;
}

const std::vector<std::uint32_t>& Sampler::order(std::uint64_t epoch) {
  if (order_.empty() || (options_.shuffle && order_epoch_ != epoch)) {
    if (options_.shuffle) {
      order_ = shuffled_order(options_.samples, options_.seed, options_.same_every_epoch ? 0 : epoch);
    } else {
      order_.resize(options_.samples);
      std::iota(order_.begin(), order_.end(), 0u);
    }
    order_epoch_ = epoch;
  }
  return order_;
}

StepPlan Sampler::plan(SamplerPosition position) {
  if (position.step >= steps_per_epoch()) {
    throw base::ConfigError(
        fmt::format("there is no step {} in an epoch of {} steps: the checkpoint belongs to other data "
                    "or another batch.",
                    position.step, steps_per_epoch()));
  }
  const std::size_t begin = position.step * options_.global_batch;
  StepPlan plan;
  plan.position = position;
  plan.global_count = std::min(options_.global_batch, options_.samples - begin);
  const auto world = static_cast<std::size_t>(options_.world);
  const Share share = share_of(plan.global_count, world, static_cast<std::size_t>(options_.rank));
  const auto first = order(position.epoch).begin() + static_cast<std::ptrdiff_t>(begin + share.begin);
  plan.samples.assign(first, first + static_cast<std::ptrdiff_t>(share.count));
  plan.weight = static_cast<double>(world * share.count) / static_cast<double>(plan.global_count);
  plan.last_of_epoch = position.step + 1 == steps_per_epoch();
  return plan;
}

SamplerPosition Sampler::after(SamplerPosition position) const {
  if (position.step + 1 < steps_per_epoch()) return {position.epoch, position.step + 1};
  return {position.epoch + 1, 0};
}

}  // namespace lockstep::data
