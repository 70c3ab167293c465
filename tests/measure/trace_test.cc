// Tests of the trace: what was recorded comes out of the merged file, each on its track, on one clock.
#include "lockstep/measure/trace.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "lockstep/base/error.h"
#include "tests/measure/trace_fixture.h"

namespace lockstep::measure {
namespace {

using nlohmann::json;
using std::chrono::microseconds;
using testing::HasSubstr;

base::TimePoint at(int after_microseconds) {
  return base::TimePoint(std::chrono::hours(1)) + microseconds(after_microseconds);
}

TraceOptions of_rank(int rank) {
  TraceOptions options;
  options.rank = rank;
  options.host = "alpha";
  return options;
}

void add_all_reduce(TraceRecorder& recorder, int begin, int end, int channel = 0) {
  OperationFacts facts;
  facts.purpose = Purpose::gradient;
  facts.collective = Collective::all_reduce;
  facts.link = "shm";
  facts.payload_bytes = 4096;
  facts.element_type = "f32";
  facts.input_elements = facts.output_elements = 1024;
  facts.ranks = 2;
  facts.channel = channel;
  Movement movement;
  movement.busy = microseconds(end - begin);
  movement.peer_wait = microseconds(1);
  movement.wire_bytes = 4100;
  recorder.on_movement(facts, movement, at(end));
}

TEST_F(TraceTest, EveryRankIsAProcessWithATrackForTrainingAndOneForEachCommunicator) {
  TraceRecorder zero(of_rank(0));
  zero.on_span(Span::forward, Purpose::control, at(0), at(10));
  add_all_reduce(zero, 5, 9, 0);
  add_all_reduce(zero, 6, 8, 1);
  TraceRecorder one(of_rank(1));
  one.on_span(Span::backward, Purpose::control, at(3), at(7));
  const json trace = merged({written(zero, "0"), written(one, "1")});
  const auto tracks = slices_of(trace);
  EXPECT_EQ(tracks.size(), 4u);
  EXPECT_EQ(name_given(trace, "process_name", 0, 0), "rank 0");
  EXPECT_EQ(name_given(trace, "process_name", 1, 0), "rank 1");
  EXPECT_EQ(name_given(trace, "thread_name", 0, 0), "training thread");
  EXPECT_EQ(name_given(trace, "thread_name", 0, 1), "communicator 0 (shm)");
  EXPECT_EQ(name_given(trace, "thread_name", 0, 2), "communicator 1 (shm)");
}

TEST_F(TraceTest, TimesAreMicrosecondsFromTheEarliestSlice) {
  TraceRecorder zero(of_rank(0));
  zero.on_span(Span::forward, Purpose::control, at(100), at(110));
  TraceRecorder one(of_rank(1));
  one.on_span(Span::forward, Purpose::control, at(50), at(75));
  const auto tracks = slices_of(merged({written(zero, "0"), written(one, "1")}));
  EXPECT_DOUBLE_EQ(tracks.at({1, 0})[0].at("ts"), 0);
  EXPECT_DOUBLE_EQ(tracks.at({1, 0})[0].at("dur"), 25);
  EXPECT_DOUBLE_EQ(tracks.at({0, 0})[0].at("ts"), 50);
}

TEST_F(TraceTest, AnotherHostsClockIsMovedOntoTheCommonOne) {
  TraceRecorder zero(of_rank(0));
  zero.on_span(Span::forward, Purpose::control, at(100), at(110));
  TraceOptions elsewhere = of_rank(1);
  elsewhere.clock_offset = -microseconds(1000);
  TraceRecorder one(elsewhere);
  one.on_span(Span::forward, Purpose::control, at(1104), at(1114));
  const auto tracks = slices_of(merged({written(zero, "0"), written(one, "1")}));
  EXPECT_DOUBLE_EQ(tracks.at({1, 0})[0].at("ts"), 4);
}

TEST_F(TraceTest, CollectivesCarryKinetosKeysAndOurs) {
  TraceRecorder recorder(of_rank(0));
  add_all_reduce(recorder, 5, 9);
  const auto tracks = slices_of(merged({written(recorder, "0")}));
  const json& slice = tracks.at({0, 1}).at(0);
  EXPECT_EQ(slice.at("cat"), "collective");
  EXPECT_EQ(slice.at("name"), "all_reduce");
  EXPECT_DOUBLE_EQ(slice.at("dur"), 4);
  const json& arguments = slice.at("args");
  EXPECT_EQ(arguments.at("Collective name"), "all_reduce");
  EXPECT_EQ(arguments.at("In msg nelems"), 1024);
  EXPECT_EQ(arguments.at("Out msg nelems"), 1024);
  EXPECT_EQ(arguments.at("dtype"), "Float");
  EXPECT_EQ(arguments.at("Group size"), 2);
  EXPECT_EQ(arguments.at("Process Group Name"), "0");
  EXPECT_EQ(arguments.at("purpose"), "gradient");
  EXPECT_EQ(arguments.at("payload_bytes"), 4096);
  EXPECT_EQ(arguments.at("wire_bytes"), 4100);
  EXPECT_DOUBLE_EQ(arguments.at("peer_wait_us"), 1);
}

TEST_F(TraceTest, OnlyExposedCommunicationHasAPurposeAmongTheSpans) {
  TraceRecorder recorder(of_rank(0));
  recorder.on_span(Span::exposed_comm, Purpose::gradient, at(0), at(1));
  recorder.on_span(Span::backward, Purpose::control, at(1), at(2));
  const auto tracks = slices_of(merged({written(recorder, "0")}));
  EXPECT_EQ(tracks.at({0, 0})[0].at("args").at("purpose"), "gradient");
  EXPECT_FALSE(tracks.at({0, 0})[1].at("args").contains("purpose"));
}

TEST_F(TraceTest, AnOperationWhoseEndWasNoticedLateDoesNotReachIntoTheNext) {
  TraceRecorder recorder(of_rank(0));
  add_all_reduce(recorder, 5, 15);  // in truth from 0 to 10
  add_all_reduce(recorder, 10, 20);
  const auto tracks = slices_of(merged({written(recorder, "0")}));
  expect_no_overlap(tracks);
  EXPECT_DOUBLE_EQ(tracks.at({0, 1})[0].at("dur"), 10);
  EXPECT_DOUBLE_EQ(tracks.at({0, 1})[1].at("ts"), 10);
}

TEST_F(TraceTest, AStepTimersNestedSpansDoNotOverlap) {
  TraceRecorder recorder(of_rank(0));
  const auto timer = host_step_timer(&recorder);
  for (int step = 0; step < 20; ++step) {
    timer->begin_step(step);
    const SpanScope backward(*timer, Span::backward);
    for (int i = 0; i < 5; ++i) const SpanScope exposed(*timer, Span::exposed_comm, Purpose::gradient);
  }
  const auto tracks = slices_of(merged({written(recorder, "0")}));
  EXPECT_GT(tracks.at({0, 0}).size(), 100u);
  expect_no_overlap(tracks);
}

TEST_F(TraceTest, WhatDoesNotFitIsDroppedCountedAndSaid) {
  TraceOptions options = of_rank(0);
  options.most_slices = 2;
  TraceRecorder recorder(options);
  for (int i = 0; i < 5; ++i) recorder.on_span(Span::forward, Purpose::control, at(i), at(i + 1));
  EXPECT_EQ(recorder.slices(), 2u);
  EXPECT_EQ(recorder.dropped(), 3u);
  const std::vector<std::filesystem::path> fragments = {written(recorder, "0")};
  EXPECT_EQ(write_trace(file("trace.json"), fragments).dropped, 3u);
  EXPECT_EQ(merged(fragments).at("otherData").at("dropped_slices"), 3);
}

TEST_F(TraceTest, NamesOutliveTheCommunicatorThatGaveThem) {
  TraceRecorder recorder(of_rank(0));
  {
    const std::string link = "a link with a name that is long enough to be on the heap";
    OperationFacts facts;
    facts.link = link;
    recorder.on_movement(facts, {}, at(1));
  }
  const auto tracks = slices_of(merged({written(recorder, "0")}));
  EXPECT_THAT(tracks.at({0, 1})[0].at("args").at("link").get<std::string>(), HasSubstr("long enough"));
}

TEST_F(TraceTest, ARunWithoutSlicesIsAValidTrace) {
  const TraceRecorder recorder(of_rank(0));
  EXPECT_TRUE(slices_of(merged({written(recorder, "0")})).empty());
}

TEST_F(TraceTest, AFragmentCutShortOrMissingIsRefusedByName) {
  TraceRecorder recorder(of_rank(0));
  recorder.on_span(Span::forward, Purpose::control, at(0), at(1));
  const auto whole = written(recorder, "0");
  for (const auto bytes : {std::uintmax_t{0}, std::uintmax_t{10}, std::filesystem::file_size(whole) - 5}) {
    std::filesystem::copy_file(whole, file("cut"), std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(file("cut"), bytes);
    try {
      merged({file("cut")});
      ADD_FAILURE() << "a fragment of " << bytes << " bytes was taken";
    } catch (const base::StoreError& error) {
      EXPECT_THAT(error.what(), HasSubstr("cut"));
    }
  }
  EXPECT_THROW(merged({file("missing")}), base::StoreError);
  EXPECT_FALSE(std::filesystem::exists(file("trace.json")));
}

TEST_F(TraceTest, TwoFragmentsOfOneRankAreRefused) {
  const TraceRecorder recorder(of_rank(0));
  EXPECT_THROW(merged({written(recorder, "a"), written(recorder, "b")}), base::StoreError);
}

// Files of this process end after so many bytes while it lives, as on a disk that becomes full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(TraceTest, AFileThatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  TraceRecorder recorder(of_rank(0));
  for (int i = 0; i < 1000; ++i) recorder.on_span(Span::forward, Purpose::control, at(i), at(i + 1));
  EXPECT_THROW(recorder.write_fragment(file("no such directory") / "0"), base::StoreError);
  {
    const FullDisk full(4096);
    EXPECT_THROW(recorder.write_fragment(file("0")), base::StoreError);
  }
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace lockstep::measure
