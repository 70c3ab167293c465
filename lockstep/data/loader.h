// Batches in order, prepared ahead by threads.
//
// The loader goes on from epoch to epoch by itself, so that the first batch of an epoch is as ready as any
// other. At most `prefetch` batches are prepared and not yet taken.
#pragma once

#include <memory>
#include <optional>

#include "lockstep/base/clock.h"
#include "lockstep/data/batch.h"
#include "lockstep/data/sampler.h"
#include "lockstep/data/transform.h"

namespace lockstep::data {

struct LoaderOptions {
  int threads = 1;  // 0: next() prepares each batch itself
  std::size_t prefetch = 4;
  std::optional<std::uint64_t> epochs;  // end after this many, counted from epoch 0; unset: never
  // Whether augmentation and noise are drawn anew each epoch (training) or as in epoch 0 (validation).
  bool fresh_each_epoch = true;
  base::Nanoseconds delay{0};  // slept in preparing each batch: for tests of what is measured
  base::Nanoseconds timeout = std::chrono::minutes(5);  // longest wait for one batch

  void validate() const;  // throws ConfigError
};

class Loader {
 public:
  Loader(std::shared_ptr<const SampleSet> set, const TransformOptions& transform,
         const SamplerOptions& sampler, const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next batch; nothing after the last epoch. Throws what a preparing thread threw, or DataError after
  // the timeout. One thread calls.
  std::optional<Batch> next();

  // Goes on from here: what was prepared is thrown away.
  void seek(SamplerPosition position);
  // Of the batch that next() will return.
  SamplerPosition position() const;

  std::size_t steps_per_epoch() const;
  // Time that next() has spent waiting for data (without threads: preparing it) so far.
  base::Nanoseconds waited() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::data
