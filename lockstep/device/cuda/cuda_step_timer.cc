#include "lockstep/device/cuda/cuda_step_timer.h"

#include <deque>
#include <optional>

#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/cuda_graph.h"
#include "lockstep/device/cuda/cuda_stream.h"

namespace lockstep::device::cuda {
namespace {

using measure::Purpose;
using measure::Span;
using measure::StepSplit;

// Less than recording an event takes.
constexpr base::Nanoseconds kNoGap{5'000};

struct Open {
  Span span;
  Purpose purpose;
};

// From this event on the stream is in that span (in none: other).
struct Change {
  std::shared_ptr<Event> event;
  std::optional<Open> into;
};

struct Step {
  std::int64_t number = 0;
  std::vector<Change> changes;  // the first one is the step's begin
  std::shared_ptr<Event> end;
};

bool is_divided(std::int64_t step) {
  return step % kDividedEvery == 0;
}

StepSplit split_of(const Step& step) {
  StepSplit split;
  split.step = step.number;
  const Event& begin = *step.changes.front().event;
  split.total = elapsed(begin, *step.end);
  split.divided = is_divided(step.number);
  for (std::size_t index = 0; index < step.changes.size(); ++index) {
    const Change& change = step.changes[index];
    if (!change.into) continue;
    const Event& next = index + 1 < step.changes.size() ? *step.changes[index + 1].event : *step.end;
    const base::Nanoseconds time = elapsed(*change.event, next);
    split.spans[static_cast<std::size_t>(change.into->span)] += time;
    if (change.into->span == Span::exposed_comm)
      split.exposed_by_purpose[static_cast<std::size_t>(change.into->purpose)] += time;
    if (change.into->span == Span::backward && split.backward_begin.count() == 0)
      split.backward_begin = elapsed(begin, *change.event);
  }
  return split;
}

class CudaStepTimer final : public measure::StepTimer {
 public:
  CudaStepTimer(int device, cudaStream_t stream) : device_(device), stream_(stream) {}

  void begin_step(std::int64_t step) override { begin(step, record()); }

  void enter(Span span, Purpose purpose) override {
    open_.push_back({span, purpose});
    if (!take_over_gap()) change();
  }
  void leave() override {
    open_.pop_back();
    change();
  }

  void end_step() override {
    running_.end = record();
    const std::shared_ptr<Event> end = running_.end;
    const std::int64_t next = running_.number + 1;
    ended_.push_back(std::move(running_));
    begin(next, end);
  }

  std::vector<StepSplit> take(bool wait_for_all) override {
    std::vector<StepSplit> splits;
    while (!ended_.empty()) {
      if (wait_for_all)
        check(cudaEventSynchronize(ended_.front().end->get()), "waiting for the end of a step");
      if (!ended_.front().end->done()) break;
      splits.push_back(split_of(ended_.front()));
      ended_.pop_front();
    }
    return splits;
  }

 private:
  // An event belongs to the device that is current where it is made, which may be another one here.
  std::shared_ptr<Event> record() {
    const DeviceScope scope(device_);
    std::shared_ptr<Event> event = events_.take();
    event->record(stream_);
    return event;
  }

  void begin(std::int64_t step, std::shared_ptr<Event> at) {
    running_ = Step{step, {{std::move(at), top()}}, nullptr};
  }

  std::optional<Open> top() const { return open_.empty() ? std::nullopt : std::optional(open_.back()); }

  void change() {
    if (Graph* graph = Graph::recording()) return change_in(*graph);
    if (running_.changes.empty() || !is_divided(running_.number)) return;
    running_.changes.push_back({record(), top()});
    changed_ = base::now();
  }

  // Happens again in every run of what is recorded.
  void change_in(Graph& graph) {
    const auto into = std::make_shared<std::optional<Open>>(top());
    graph.time(
        stream_,
        [this, into](std::shared_ptr<Event> event) {
          running_.changes.push_back({std::move(event), *into});
        },
        [this] { return is_divided(running_.number); });
    recorded_ = into;
    changed_ = base::now();
  }

  // Where one span follows another at once, the end of the first is the begin of the second: an event between
  // them would take longer than what it measures.
  bool take_over_gap() {
    if (Graph::recording() != nullptr) return take_over_recorded_gap();
    if (running_.changes.size() < 2 || running_.changes.back().into) return false;
    if (base::now() - changed_ > kNoGap) return false;
    running_.changes.back().into = open_.back();
    return true;
  }

  bool take_over_recorded_gap() {
    if (recorded_ == nullptr || *recorded_ || base::now() - changed_ > kNoGap) return false;
    *recorded_ = open_.back();
    return true;
  }

  int device_;
  cudaStream_t stream_;
  EventPool events_;
  std::vector<Open> open_;
  Step running_;
  base::TimePoint changed_;                        // when the host asked for the last change
  std::shared_ptr<std::optional<Open>> recorded_;  // what the last change in a recording goes into
  std::deque<Step> ended_;
};

}  // namespace

std::unique_ptr<measure::StepTimer> cuda_step_timer(int device, cudaStream_t stream) {
  return std::make_unique<CudaStepTimer>(device, stream);
}

}  // namespace lockstep::device::cuda
