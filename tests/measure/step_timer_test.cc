// Tests of the step timer: spans neither overlap nor lose time, whatever is nested in what.
#include "lockstep/measure/step_timer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

namespace lockstep::measure {
namespace {

using base::Nanoseconds;
using std::chrono::milliseconds;

// Passes time by the clock that the timer reads; sleeping ends late by an unknown amount, which no test
// minds.
void pass(Nanoseconds duration) {
  std::this_thread::sleep_for(duration);
}

Nanoseconds span_of(const StepSplit& split, Span span) {
  return split.spans[static_cast<std::size_t>(span)];
}
Nanoseconds exposed_for(const StepSplit& split, Purpose purpose) {
  return split.exposed_by_purpose[static_cast<std::size_t>(purpose)];
}
Nanoseconds sum_of_spans(const StepSplit& split) {
  return std::accumulate(split.spans.begin(), split.spans.end(), Nanoseconds(0));
}

struct Piece {
  Span span;
  Purpose purpose;
  base::TimePoint begin;
  base::TimePoint end;
};

class Pieces final : public SpanListener {
 public:
  void on_span(Span span, Purpose purpose, base::TimePoint begin, base::TimePoint end) override {
    seen.push_back({span, purpose, begin, end});
  }
  std::vector<Piece> seen;
};

TEST(Span, NamesAreDifferent) {
  std::set<std::string_view> names;
  for (int i = 0; i < kSpanCount; ++i) names.insert(name_of(static_cast<Span>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kSpanCount));
  EXPECT_EQ(name_of(Span::exposed_comm), "exposed_comm");
}

TEST(StepTimer, SpansAndOtherSumToTheStep) {
  const auto timer = host_step_timer();
  timer->begin_step(7);
  for (int i = 0; i < kSpanCount; ++i) {
    const SpanScope scope(*timer, static_cast<Span>(i));
    pass(milliseconds(2));
  }
  pass(milliseconds(3));
  timer->end_step();
  const auto splits = timer->take();
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_EQ(splits[0].step, 7);
  for (const Nanoseconds span : splits[0].spans) EXPECT_GE(span, milliseconds(2));
  EXPECT_GE(splits[0].other(), milliseconds(3));
  EXPECT_EQ(sum_of_spans(splits[0]) + splits[0].other(), splits[0].total);
}

TEST(StepTimer, ExposedCommunicationInsideBackwardSuspendsBackward) {
  const auto timer = host_step_timer();
  timer->begin_step(0);
  const auto began = base::now();
  Nanoseconds inside{0};
  {
    const SpanScope backward(*timer, Span::backward);
    const auto entering = base::now();
    {
      const SpanScope exposed(*timer, Span::exposed_comm, Purpose::gradient);
      pass(milliseconds(20));
    }
    inside = base::now() - entering;
  }
  const Nanoseconds whole = base::now() - began;
  timer->end_step();
  const StepSplit split = timer->take().at(0);
  EXPECT_GE(span_of(split, Span::exposed_comm), milliseconds(20));
  EXPECT_LE(span_of(split, Span::exposed_comm), inside);
  EXPECT_LE(span_of(split, Span::backward), whole - span_of(split, Span::exposed_comm));
}

TEST(StepTimer, BackwardGoesOnAfterWhatSuspendedIt) {
  const auto timer = host_step_timer();
  timer->begin_step(0);
  timer->enter(Span::backward);
  timer->enter(Span::forward);  // a unit recomputes
  timer->enter(Span::exposed_comm, Purpose::parameter);
  timer->leave();
  timer->leave();
  pass(milliseconds(5));
  timer->leave();
  timer->end_step();
  EXPECT_GE(span_of(timer->take().at(0), Span::backward), milliseconds(5));
}

TEST(StepTimer, ExposedCommunicationIsKeptByPurposeAndSumsToItsSpan) {
  const auto timer = host_step_timer();
  timer->begin_step(0);
  for (const Purpose purpose : {Purpose::gradient, Purpose::buffer, Purpose::gradient}) {
    const SpanScope exposed(*timer, Span::exposed_comm, purpose);
    pass(milliseconds(2));
  }
  timer->end_step();
  const StepSplit split = timer->take().at(0);
  EXPECT_GE(exposed_for(split, Purpose::gradient), milliseconds(4));
  EXPECT_GE(exposed_for(split, Purpose::buffer), milliseconds(2));
  EXPECT_EQ(exposed_for(split, Purpose::gradient) + exposed_for(split, Purpose::buffer),
            span_of(split, Span::exposed_comm));
}

TEST(StepTimer, PurposesOfOtherSpansAreNotExposedCommunication) {
  const auto timer = host_step_timer();
  timer->begin_step(0);
  timer->enter(Span::optimizer, Purpose::gradient);
  pass(milliseconds(1));
  timer->leave();
  timer->end_step();
  EXPECT_EQ(exposed_for(timer->take().at(0), Purpose::gradient), Nanoseconds(0));
}

TEST(StepTimer, StepsFollowEachOtherWithoutAGap) {
  const auto timer = host_step_timer();
  const auto before = base::now();
  timer->begin_step(0);
  const auto began = base::now();
  timer->end_step();
  pass(milliseconds(3));
  timer->end_step();  // without begin_step: from the end of the step before it
  const auto ended = base::now();
  const auto splits = timer->take();
  ASSERT_EQ(splits.size(), 2u);
  EXPECT_EQ(splits[1].step, 1);
  EXPECT_GE(splits[1].total, milliseconds(3));
  EXPECT_LE(splits[0].total + splits[1].total, ended - before);
  EXPECT_LE(splits[0].total, ended - began);
}

TEST(StepTimer, ABeginForgetsWhatHappenedSinceTheStepBefore) {
  const auto timer = host_step_timer();
  timer->begin_step(0);
  timer->end_step();
  {
    const SpanScope validation(*timer, Span::forward);
    pass(milliseconds(20));
  }
  const auto began = base::now();
  timer->begin_step(1);
  timer->end_step();
  const Nanoseconds most = base::now() - began;
  const StepSplit split = timer->take().at(1);
  EXPECT_LE(split.total, most);
  EXPECT_EQ(span_of(split, Span::forward), Nanoseconds(0));
}

TEST(StepTimer, BackwardBeginsWhereItIsEnteredLast) {
  const auto timer = host_step_timer();
  timer->begin_step(0);
  for (int part = 0; part < 2; ++part) {
    pass(milliseconds(4));
    const SpanScope backward(*timer, Span::backward);
  }
  timer->end_step();
  const StepSplit split = timer->take().at(0);
  EXPECT_GE(split.backward_begin, milliseconds(8));
  EXPECT_LE(split.backward_begin, split.total);
}

TEST(StepTimer, TakesEveryStepOnce) {
  const auto timer = host_step_timer();
  for (int step = 0; step < 3000; ++step) {
    timer->begin_step(step);
    timer->end_step();
  }
  EXPECT_EQ(timer->take().size(), 3000u);
  EXPECT_TRUE(timer->take(true).empty());
}

TEST(StepTimer, AnExceptionLeavesTheSpansItPassesThrough) {
  const auto timer = host_step_timer();
  timer->begin_step(0);
  try {
    const SpanScope backward(*timer, Span::backward);
    const SpanScope exposed(*timer, Span::exposed_comm, Purpose::gradient);
    throw std::runtime_error("link lost");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THROW(timer->leave(), std::logic_error);
}

TEST(StepTimer, RefusesSpansThatAreNeverLeft) {
  const auto timer = host_step_timer();
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) timer->enter(Span::forward);
      },
      std::logic_error);
}

TEST(SpanListener, SeesThePiecesInOrderAndWithoutOverlap) {
  Pieces pieces;
  const auto timer = host_step_timer(&pieces);
  timer->begin_step(0);
  {
    const SpanScope backward(*timer, Span::backward);
    pass(milliseconds(1));
    {
      const SpanScope exposed(*timer, Span::exposed_comm, Purpose::gradient);
      pass(milliseconds(1));
    }
    pass(milliseconds(1));
  }
  timer->end_step();
  ASSERT_EQ(pieces.seen.size(), 3u);
  EXPECT_EQ(pieces.seen[0].span, Span::backward);
  EXPECT_EQ(pieces.seen[1].span, Span::exposed_comm);
  EXPECT_EQ(pieces.seen[1].purpose, Purpose::gradient);
  EXPECT_EQ(pieces.seen[2].span, Span::backward);
  EXPECT_EQ(pieces.seen[0].end, pieces.seen[1].begin);
  EXPECT_EQ(pieces.seen[1].end, pieces.seen[2].begin);
  Nanoseconds sum{0};
  for (const Piece& piece : pieces.seen) sum += piece.end - piece.begin;
  EXPECT_EQ(sum, sum_of_spans(timer->take().at(0)));
}

TEST(BareStepTimer, KnowsOnlyTheLengthOfTheStep) {
  const auto timer = bare_step_timer();
  timer->begin_step(4);
  {
    const SpanScope forward(*timer, Span::forward);
    pass(milliseconds(2));
  }
  timer->end_step();
  const StepSplit split = timer->take().at(0);
  EXPECT_EQ(split.step, 4);
  EXPECT_GE(split.total, milliseconds(2));
  EXPECT_EQ(split.other(), split.total);
  EXPECT_FALSE(split.divided);
}

TEST(TurnsStepTimer, DividesTheStepsOfEverySecondBlock) {
  const auto timer = turns_step_timer(host_step_timer(), 2);
  timer->begin_step(0);
  for (int step = 0; step < 6; ++step) {
    {
      const SpanScope forward(*timer, Span::forward);
      pass(milliseconds(1));
    }
    timer->end_step();
  }
  std::vector<StepSplit> splits = timer->take();
  std::sort(splits.begin(), splits.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  ASSERT_EQ(splits.size(), 6U);
  for (int step = 0; step < 6; ++step) {
    const StepSplit& split = splits[static_cast<std::size_t>(step)];
    EXPECT_EQ(split.step, step);
    EXPECT_EQ(split.divided, measured_in_turn(step, 2)) << step;
    EXPECT_GE(split.total, milliseconds(1));
  }
}

}  // namespace
}  // namespace lockstep::measure
