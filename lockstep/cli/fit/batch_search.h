// The largest batch that fits, found by trying. Pure: what a trial is, the caller decides.
//
// Memory grows by the same amount with every sample (an answer that cuts its batch into parts: nearly so), so
// two trials that fit foretell the largest batch, and two more prove it: that it fits, and that one sample
// more does not. Where the foretelling is wrong, bisection between the largest that fitted and the smallest
// that did not goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace lockstep::cli {

// What came of one trial.
struct BatchTrial {
  std::int64_t batch = 0;  // samples per worker
  bool fits = false;
  std::uint64_t peak_bytes = 0;              // of the worst worker; 0 where it did not fit
  std::optional<double> seconds_per_sample;  // of all workers together
};

struct SearchLimits {
  std::int64_t smallest = 1;
  std::int64_t largest = 4096;
  std::uint64_t cap_bytes = 0;
};

struct SearchResult {
  std::optional<BatchTrial> best;  // nothing: not even the smallest fits
  bool at_limit = false;           // the largest batch that was allowed fits
  std::vector<BatchTrial> trials;
};

SearchResult largest_batch(const SearchLimits& limits,
                           const std::function<BatchTrial(std::int64_t batch)>& attempt);

}  // namespace lockstep::cli
