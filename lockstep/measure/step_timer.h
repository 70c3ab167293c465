// Splits the steps of a worker into spans, without gaps and without overlap.
//
// The training thread is in one span at a time: entering one inside another suspends the outer one, so that
// the spans of a step never count the same moment twice. What no span covers is *other*. A step lasts from
// the end of the step before it to end_step(); begin_step() lets it begin anew (after a validation, say),
// forgetting what was counted since. A span that is open when a step ends goes on in the next one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/measure/ledger.h"

namespace lockstep::measure {

enum class Span { data, input, forward, backward, exposed_comm, optimizer };
inline constexpr int kSpanCount = 6;
std::string_view name_of(Span span);

// Where the time of one step went.
struct StepSplit {
  std::int64_t step = 0;
  base::Nanoseconds total{0};
  std::array<base::Nanoseconds, kSpanCount> spans{};
  std::array<base::Nanoseconds, kPurposeCount> exposed_by_purpose{};  // sums to spans[exposed_comm]
  // From the start of the step to the last time backward was entered: with accumulated gradients, the pass
  // whose gradients go on their way.
  base::Nanoseconds backward_begin{0};
  bool divided = true;  // false: only the total is known (a GPU's spans are measured in some steps)

  base::Nanoseconds other() const;
};

// Told about every unbroken piece of a span, in the order of time and never overlapping: how a trace is made.
// A span that another one interrupted comes in several pieces.
class SpanListener {
 public:
  virtual ~SpanListener() = default;
  virtual void on_span(Span span, Purpose purpose, base::TimePoint begin, base::TimePoint end) = 0;
};

// One per worker, used by its training thread only.
class StepTimer {
 public:
  virtual ~StepTimer() = default;
  virtual void begin_step(std::int64_t step) = 0;
  // `purpose` matters for exposed communication only.
  virtual void enter(Span span, Purpose purpose = Purpose::control) = 0;
  virtual void leave() = 0;
  virtual void end_step() = 0;
  // The steps whose figures are known by now and were not taken before, in order: on a CPU all that have
  // ended; on a GPU, which is behind, some of the last ones only after `wait_for_all`.
  virtual std::vector<StepSplit> take(bool wait_for_all = false) = 0;
};

class SpanScope {
 public:
  SpanScope(StepTimer& timer, Span span, Purpose purpose = Purpose::control) : timer_(timer) {
    timer_.enter(span, purpose);
  }
  ~SpanScope() { timer_.leave(); }
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

 private:
  StepTimer& timer_;
};

// Reads the clock at every change of span. The listener may be null.
std::unique_ptr<StepTimer> host_step_timer(SpanListener* listener = nullptr);
// Knows the length of a step and nothing else: what measuring is compared with.
std::unique_ptr<StepTimer> bare_step_timer();

// Whether a step is measured when measuring rests in every second block of `turn` steps (0: it never rests).
bool measured_in_turn(std::int64_t step, std::int64_t turn);
// Measures with `full` in the first `turn` steps, not at all in the next, and so on: both kinds of steps in
// one run, for who wants to know what measuring costs.
std::unique_ptr<StepTimer> turns_step_timer(std::unique_ptr<StepTimer> full, std::int64_t turn);

}  // namespace lockstep::measure
