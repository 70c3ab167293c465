#include "lockstep/cli/fit/batch_search.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

class Search {
 public:
  Search(const SearchLimits& limits, const std::function<BatchTrial(std::int64_t)>& attempt)
      : limits_(limits), attempt_(attempt), fails_from_(limits.largest + 1) {}

  SearchResult run() {
    if (!try_one(limits_.smallest)) return result();
    while (best() + 1 < fails_from_) try_one(next());
    return result();
  }

 private:
  bool try_one(std::int64_t batch) {
    const BatchTrial trial = attempt_(batch);
    trials_.push_back(trial);
    if (trial.fits) {
      fitted_.push_back(trial);
    } else {
      fails_from_ = std::min(fails_from_, batch);
    }
    return trial.fits;
  }
  std::int64_t best() const { return fitted_.back().batch; }

  // One trial says nothing about growth: a few samples more do.
  std::int64_t next() const {
    if (fitted_.size() == 1) return within(4 * best());
    return foretold_tries_ < kForetold ? within(foretold()) : within((best() + fails_from_) / 2);
  }
  std::int64_t within(std::int64_t batch) const { return std::clamp(batch, best() + 1, fails_from_ - 1); }

  // Where the line through the last two that fitted meets the cap.
  std::int64_t foretold() const {
    ++foretold_tries_;
    const BatchTrial &low = fitted_[fitted_.size() - 2], &high = fitted_.back();
    const double growth = (static_cast<double>(high.peak_bytes) - static_cast<double>(low.peak_bytes)) /
                          static_cast<double>(high.batch - low.batch);
    if (growth <= 0) return limits_.largest;
    const double room = static_cast<double>(limits_.cap_bytes) - static_cast<double>(high.peak_bytes);
    return high.batch + static_cast<std::int64_t>(std::min(room / growth, 1e9));
  }

  SearchResult result() const {
    SearchResult found;
    found.trials = trials_;
    if (!fitted_.empty()) found.best = fitted_.back();
    found.at_limit = !fitted_.empty() && best() == limits_.largest;
    return found;
  }

  static constexpr int kForetold = 4;

  SearchLimits limits_;
  const std::function<BatchTrial(std::int64_t)>& attempt_;
  std::int64_t fails_from_;
  std::vector<BatchTrial> trials_;
  std::vector<BatchTrial> fitted_;  // each larger than the one before
  mutable int foretold_tries_ = 0;
};

}  // namespace

SearchResult largest_batch(const SearchLimits& limits,
                           const std::function<BatchTrial(std::int64_t)>& attempt) {
  return Search(limits, attempt).run();
}

}  // namespace lockstep::cli
