#include "lockstep/record/event.h"

#include <cmath>
#include <sstream>

#include "tests/record/messages.h"

namespace lockstep::record {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Event> one_of_each() {
  StartedEvent started{"0.1.0", "lockstep", 2, 32, 64, "2026-01-02T03:04:05Z", {}, 1e6, {}};
  StepEvent step;
  step.step = 3;
  step.seconds = 0.25;
  step.samples = 32;
  step.loss = 2.5;
  step.split_seconds = SplitSeconds{0.01, {}, 0.1, 0.1, 0.02, 0.01, {}};
  step.buckets = std::vector<BucketTimes>{{1024, 0.1, 0.11, 0.2}};
  step.exposed_by_purpose = std::map<std::string, double>{{"gradient", 0.02}};
  EpochEvent epoch;
  epoch.epoch = 1;
  epoch.train_loss = 0.5;
  LedgerEvent ledger;
  ledger.rows = {{0, "gradient", "all_reduce", "shm", 100, 200, 4, 0.1, true}};
  MemoryEvent memory;
  memory.peak_bytes = 4096;
  memory.by_use = {{"parameters", 4096}};
  FinishedEvent finished;
  finished.wall_seconds.train = 12.5;
  finished.target = TargetFigures{"train_loss", 0.04, 3.0, {}};
  std::vector<Event> events;
  for (const EventBody& body :
       std::vector<EventBody>{started, step, epoch, ledger, memory, UtilisationEvent{97.5, 310.5, 1980.0},
                              CheckpointEvent{"checkpoints/3", 3, 1000, {}}, WarningEvent{"slow"},
                              FailedEvent{"CommError", "rank 1 is gone"}, finished}) {
    events.push_back({1, 0.5, body});
  }
  return events;
}

TEST(Event, comes_back_from_its_line_unchanged) {
  for (const Event& event : one_of_each()) {
    const std::string line = to_line(event);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(event_from_line(line), event) << line;
  }
}

TEST(Event, leaves_out_what_is_unknown_instead_of_writing_zero) {
  EXPECT_THAT(to_line({0, 0, StepEvent{}}), Not(HasSubstr("loss")));
  EXPECT_THAT(to_line({0, 0, EpochEvent{}}), Not(HasSubstr("val_")));
}

TEST(Event, keeps_a_loss_that_is_not_a_number) {
  StepEvent step;
  step.loss = std::nan("");
  const auto read = event_from_line(to_line({0, 0, step}));
  EXPECT_TRUE(std::isnan(*std::get<StepEvent>(read->body).loss));
}

TEST(Event, of_a_kind_this_version_does_not_know_is_passed_over) {
  EXPECT_FALSE(event_from_line(R"({"event": "weather", "rank": 0, "time": 1})").has_value());
}

TEST(Event, has_a_kind_that_its_line_tells_with_spaces_or_without) {
  for (const Event& event : one_of_each())
    EXPECT_EQ(kind_of_line(to_line(event)),
              std::visit([](const auto& body) { return body.kName; }, event.body));
  EXPECT_EQ(kind_of_line(R"({"event": "step", "rank": 0})"), "step");
  EXPECT_EQ(kind_of_line(to_line({0, 1, WarningEvent{R"("event":"finished")"}})), "warning");
}

TEST(Event, has_no_kind_where_its_line_is_damaged) {
  for (const char* line :
       {"", "nonsense", R"({"event")", R"({"event":)", R"({"event":"st)", R"({"event":3})"})
    EXPECT_FALSE(kind_of_line(line)) << line;
}

TEST(Event, that_is_damaged_is_refused_with_the_field) {
  const auto complaint = [](const char* line) { return complaint_of([&] { event_from_line(line); }); };
  EXPECT_THAT(complaint(R"({"event": "warning", "rank": 0, "time": 1})"), HasSubstr("message is missing"));
  EXPECT_THAT(complaint(R"({"event": "warning", "rank": "x", "time": 1})"),
              HasSubstr("rank should be a whole number"));
  EXPECT_THAT(complaint("{"), HasSubstr("not JSON"));
}

TEST(EventStream, loses_only_the_line_that_a_crash_cut_short) {
  std::string text;
  for (const Event& event : one_of_each()) text += to_line(event) + "\n";
  const std::size_t whole = one_of_each().size();
  std::istringstream stream(text);
  EXPECT_EQ(read_events(stream, "rank0.jsonl").size(), whole);
  std::istringstream cut(text.substr(0, text.size() - 5));
  EXPECT_EQ(read_events(cut, "rank0.jsonl").size(), whole - 1);
}

TEST(EventStream, names_the_file_and_line_of_a_damaged_event) {
  std::istringstream stream(to_line(one_of_each()[0]) + "\n???\n" + to_line(one_of_each()[1]) + "\n");
  EXPECT_THAT(complaint_of([&] { read_events(stream, "rank0.jsonl"); }), HasSubstr("rank0.jsonl:2:"));
}

TEST(EventStream, is_merged_in_the_order_of_time) {
  const auto at = [](int rank, double time) { return Event{rank, time, WarningEvent{"x"}}; };
  const auto merged = merge_events({{at(0, 1), at(0, 3)}, {at(1, 1), at(1, 2)}});
  std::vector<std::pair<double, int>> order;
  for (const Event& event : merged) order.emplace_back(event.time, event.rank);
  EXPECT_EQ(order, (std::vector<std::pair<double, int>>{{1, 0}, {1, 1}, {2, 1}, {3, 0}}));
}

}  // namespace
}  // namespace lockstep::record
