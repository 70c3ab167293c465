#include "lockstep/measure/step_timer.h"

#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace lockstep::measure {
namespace {

constexpr std::array<std::string_view, kSpanCount> kSpanNames = {"data",     "input",        "forward",
                                                                 "backward", "exposed_comm", "optimizer"};

// Spans inside spans: a strategy that communicates while a unit recomputes in backward needs three.
constexpr std::size_t kDeepest = 16;
// Steps between two takes that need no memory.
constexpr std::size_t kStepsKept = 1024;

// The clock of both timers: which step is running and since when.
class StepClock {
 public:
  StepClock() { done_.reserve(kStepsKept); }

  void begin(std::int64_t step, base::TimePoint at) {
    split_ = {};
    split_.step = step;
    began_ = at;
  }
  // Ends the running step; the next one has begun with it, until begin() says otherwise.
  void end(base::TimePoint at) {
    split_.total = at - began_;
    done_.push_back(split_);
    begin(split_.step + 1, at);
  }
  StepSplit& split() { return split_; }
  base::TimePoint began() const { return began_; }
  std::vector<StepSplit> take() {
    std::vector<StepSplit> taken(done_);
    done_.clear();  // keeps its memory
    return taken;
  }

 private:
  StepSplit split_;
  base::TimePoint began_ = base::now();
  std::vector<StepSplit> done_;
};

class HostStepTimer final : public StepTimer {
 public:
  explicit HostStepTimer(SpanListener* listener) : listener_(listener) {}

  void begin_step(std::int64_t step) override {
    const base::TimePoint at = base::now();
    count_until(at);
    clock_.begin(step, at);
  }

  void enter(Span span, Purpose purpose) override {
    if (depth_ == kDeepest) throw std::logic_error("step timer: spans are nested too deeply");
    const base::TimePoint at = base::now();
    count_until(at);
    open_[depth_++] = {span, purpose};
    if (span == Span::backward) clock_.split().backward_begin = at - clock_.began();
  }

  void leave() override {
    if (depth_ == 0) throw std::logic_error("step timer: left a span that was not entered");
    count_until(base::now());
    --depth_;
  }

  void end_step() override {
    const base::TimePoint at = base::now();
    count_until(at);
    clock_.end(at);
  }

  std::vector<StepSplit> take(bool) override { return clock_.take(); }

 private:
  struct Open {
    Span span;
    Purpose purpose;
  };

  // Gives the time since the last change to the innermost span.
  void count_until(base::TimePoint at) {
    const base::TimePoint since = changed_;
    changed_ = at;
    if (depth_ == 0) return;
    const Open& current = open_[depth_ - 1];
    clock_.split().spans[static_cast<std::size_t>(current.span)] += at - since;
    if (current.span == Span::exposed_comm)
      clock_.split().exposed_by_purpose[static_cast<std::size_t>(current.purpose)] += at - since;
    if (listener_ != nullptr && at > since) listener_->on_span(current.span, current.purpose, since, at);
  }

  SpanListener* listener_;
  StepClock clock_;
  std::array<Open, kDeepest> open_{};
  std::size_t depth_ = 0;
  base::TimePoint changed_ = base::now();
};

class BareStepTimer final : public StepTimer {
 public:
  void begin_step(std::int64_t step) override { clock_.begin(step, base::now()); }
  void enter(Span, Purpose) override {}
  void leave() override {}
  void end_step() override {
    clock_.split().divided = false;
    clock_.end(base::now());
  }
  std::vector<StepSplit> take(bool) override { return clock_.take(); }

 private:
  StepClock clock_;
};

class TurnsStepTimer final : public StepTimer {
 public:
  TurnsStepTimer(std::unique_ptr<StepTimer> full, std::int64_t turn) : full_(std::move(full)), turn_(turn) {}

  void begin_step(std::int64_t step) override {
    step_ = step;
    current().begin_step(step);
  }
  void enter(Span span, Purpose purpose) override { current().enter(span, purpose); }
  void leave() override { current().leave(); }
  void end_step() override {
    current().end_step();
    ++step_;
    if (step_ % turn_ == 0) current().begin_step(step_);
  }
  std::vector<StepSplit> take(bool wait_for_all) override {
    std::vector<StepSplit> splits = full_->take(wait_for_all);
    const std::vector<StepSplit> bare = bare_.take(wait_for_all);
    splits.insert(splits.end(), bare.begin(), bare.end());
    return splits;
  }

 private:
  StepTimer& current() { return measured_in_turn(step_, turn_) ? *full_ : bare_; }

  std::unique_ptr<StepTimer> full_;
  BareStepTimer bare_;
  std::int64_t turn_;
  std::int64_t step_ = 0;
};

}  // namespace

std::string_view name_of(Span span) {
  return kSpanNames[static_cast<std::size_t>(span)];
}

base::Nanoseconds StepSplit::other() const {
  return total - std::accumulate(spans.begin(), spans.end(), base::Nanoseconds(0));
}

std::unique_ptr<StepTimer> host_step_timer(SpanListener* listener) {
  return std::make_unique<HostStepTimer>(listener);
}

std::unique_ptr<StepTimer> bare_step_timer() {
  return std::make_unique<BareStepTimer>();
}

bool measured_in_turn(std::int64_t step, std::int64_t turn) {
  return turn == 0 || step / turn % 2 == 0;
}

std::unique_ptr<StepTimer> turns_step_timer(std::unique_ptr<StepTimer> full, std::int64_t turn) {
  return std::make_unique<TurnsStepTimer>(std::move(full), turn);
}

}  // namespace lockstep::measure
