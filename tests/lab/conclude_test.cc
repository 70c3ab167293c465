#include "lockstep/lab/conclude.h"

#include "lockstep/base/error.h"
#include "lockstep/lab/atomic_file.h"
#include "lockstep/lab/run_events.h"
#include "tests/lab/store_fixture.h"

namespace lockstep::lab {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class Conclude : public StoreTest {
 protected:
  RunDirectory make_run(int workers) {
    record::RunSpec spec;
    spec.workers = workers;
    return RunDirectory::create(store, spec);
  }
};

TEST_F(Conclude, makes_a_record_of_all_ranks_and_keeps_it_beside_the_merged_events) {
  const RunDirectory run = make_run(2);
  add_rank(run, 0, 4);
  add_rank(run, 1, 4);
  const record::RunRecord record = conclude(run, {});
  EXPECT_EQ(record.status, "finished");
  EXPECT_EQ(record.id, run.id());
  EXPECT_EQ(record.steps.count, 4);
  EXPECT_EQ(read_record(run), record);
  std::ifstream merged(run.events_file());
  EXPECT_EQ(record::read_events(merged, "merged").size(), 12u);
}

TEST_F(Conclude, works_on_what_a_run_without_an_end_left_behind) {
  const RunDirectory run = make_run(2);
  add_rank(run, 0, 2);
  append(run.rank_file(1), "{\"event\":\"sta");
  const record::RunRecord record = conclude(run, {});
  EXPECT_EQ(record.status, "interrupted");
  EXPECT_EQ(record.steps.count, 2);
}

TEST_F(Conclude, what_the_launcher_saw_explains_a_rank_that_said_nothing) {
  const RunDirectory run = make_run(1);
  record::RunContext context;
  context.failure = record::FailureFigures{0, "killed", "rank 0 was killed by signal 9 (SIGKILL)"};
  EXPECT_EQ(conclude(run, context).status, "failed");
  EXPECT_EQ(read_record(run).failure->kind, "killed");
}

TEST_F(Conclude, a_damaged_line_costs_what_follows_it_and_is_warned_of) {
  const RunDirectory run = make_run(1);
  record::StepEvent step;
  add(run, {0, 1, step});
  append(run.rank_file(0), "not JSON\n");
  add(run, {0, 2, step});
  const record::RunRecord record = conclude(run, {});
  EXPECT_EQ(record.steps.count, 1);
  EXPECT_THAT(record.warnings, Contains(AllOf(HasSubstr("rank0.jsonl:2"), HasSubstr("left out"))));
}

TEST_F(Conclude, the_machine_is_the_launchers_with_the_libraries_of_the_engine) {
  const RunDirectory run = make_run(1);
  add_rank(run, 0, 1);
  record::RunContext context;
  context.machine = nlohmann::json{{"host", "h"}, {"cores", 8}, {"libraries", {{"hwloc", "2.9"}}}};
  const nlohmann::json machine = conclude(run, context).machine;
  EXPECT_EQ(machine["cores"], 8);
  EXPECT_EQ(machine["libraries"]["libtorch"], "1.13.1");
  EXPECT_EQ(machine["libraries"]["hwloc"], "2.9");
}

TEST_F(Conclude, a_rank_has_ended_once_it_said_so_in_a_whole_line) {
  const RunDirectory run = make_run(1);
  EXPECT_FALSE(has_ended(run, 0));
  append(run.rank_file(0), record::to_line({0, 1, record::FinishedEvent{}}));
  EXPECT_FALSE(has_ended(run, 0));
  append(run.rank_file(0), "\n");
  EXPECT_TRUE(has_ended(run, 0));
}

TEST_F(Conclude, an_end_is_heard_from_an_engine_that_writes_spaces_too) {
  const RunDirectory run = make_run(1);
  append(run.rank_file(0),
         R"({"event": "warning", "rank": 0, "time": 1, "message": "\"event\":\"finished\""})"
         "\n");
  EXPECT_FALSE(has_ended(run, 0));
  append(run.rank_file(0), R"({"event": "failed", "rank": 0, "time": 2, "kind": "data"})"
                           "\n");
  EXPECT_TRUE(has_ended(run, 0));
}

TEST_F(Conclude, a_run_without_a_record_is_said_to_be_running_or_killed) {
  const RunDirectory run = make_run(1);
  EXPECT_THROW(read_record(run), base::ConfigError);
  write_atomically(run.record_file(), "{");
  EXPECT_THROW(read_record(run), base::StoreError);
}

}  // namespace
}  // namespace lockstep::lab
