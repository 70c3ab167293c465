#include "lockstep/cli/fit/batch_search.h"

#include <algorithm>
#include <utility>

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

  std::int64_t next() {
    const std::int64_t told = foretold_ < kForetold ? foretold() : best();
    if (told > best() && told < fails_from_) {
      ++foretold_;
      return told;
    }
    return within(fails_from_ > limits_.largest ? best() + leap() : (best() + fails_from_) / 2);
  }
  std::int64_t within(std::int64_t batch) const { return std::clamp(batch, best() + 1, fails_from_ - 1); }

  // Nothing has failed yet and the line promises nothing: a sample more, then twice as many each time. From
  // one trial there is no line: a few samples more will tell.
  std::int64_t leap() {
    if (fitted_.size() == 1) return 3 * best();
    return std::exchange(leap_, 2 * leap_);
  }

  // Where the line through the last that fitted and one of at most half its batch meets the cap; the last
  // itself where there is no line. Neighbours would make a poor one: memory may grow in steps.
  std::int64_t foretold() const {
    const BatchTrial &low = far_below(), &high = fitted_.back();
    if (high.peak_bytes <= low.peak_bytes) return fitted_.size() == 1 ? high.batch : 4 * high.batch;
    const double growth =
        static_cast<double>(high.peak_bytes - low.peak_bytes) / static_cast<double>(high.batch - low.batch);
    const double room = static_cast<double>(limits_.cap_bytes) - static_cast<double>(high.peak_bytes);
    const double more = std::clamp(room / growth, 0.0, static_cast<double>(limits_.largest));
    return std::min(high.batch + static_cast<std::int64_t>(more), limits_.largest);
  }
  const BatchTrial& far_below() const {
    const auto found = std::find_if(fitted_.rbegin(), fitted_.rend(),
                                    [this](const BatchTrial& trial) { return 2 * trial.batch <= best(); });
    return found == fitted_.rend() ? fitted_.front() : *found;
  }

  SearchResult result() const {
    SearchResult found;
    found.trials = trials_;
    if (!fitted_.empty()) found.best = fitted_.back();
    found.at_limit = !fitted_.empty() && best() == limits_.largest;
    return found;
  }

  static constexpr int kForetold = 3;

  SearchLimits limits_;
  const std::function<BatchTrial(std::int64_t)>& attempt_;
  std::int64_t fails_from_;
  std::vector<BatchTrial> trials_;
  std::vector<BatchTrial> fitted_;  // each larger than the one before
  int foretold_ = 0;                // how often the line was followed
  std::int64_t leap_ = 1;
};

}  // namespace

SearchResult largest_batch(const SearchLimits& limits,
                           const std::function<BatchTrial(std::int64_t)>& attempt) {
  return Search(limits, attempt).run();
}

}  // namespace lockstep::cli
