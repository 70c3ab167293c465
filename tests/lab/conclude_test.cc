#include "lockstep/lab/conclude.h"

#include "lockstep/base/error.h"
#include "lockstep/lab/atomic_file.h"
#include "lockstep/lab/run_events.h"
#include "lockstep/lab/run_execution.h"
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

// What tells of times differs: nobody knows when a killed command would have ended.
nlohmann::json but_for_times(const record::RunRecord& record) {
  nlohmann::json json = record::to_json(record);
  json["wall_seconds"].erase("total");
  return json;
}

class LateConclusion : public Conclude {
 protected:
  const RunLaunch launch{
      1767323040.0, {{"host", "h"}, {"cores", 8}, {"libraries", {{"hwloc", "2.9"}}}}, std::nullopt};
  RunDirectory make_run_of_study(int workers) {
    record::RunSpec spec;
    spec.workers = workers;
    return RunDirectory::create(store, spec, StudyPlace{"grid", "workers=2", 3}, launch);
  }
};

TEST_F(LateConclusion, gives_the_record_that_the_launcher_would_have_made) {
  const RunDirectory run = make_run_of_study(2);
  add_rank(run, 0, 4);
  add_rank(run, 1, 4);
  record::RunContext context;
  context.machine = launch.machine;
  context.commanded_at = launch.commanded_at;
  context.total_seconds = 106;
  const record::RunRecord undisturbed = conclude(run, context);
  std::filesystem::remove(run.record_file());
  std::filesystem::remove(run.events_file());
  const std::filesystem::path half_written = run.path() / "record.json.1234.part";
  append(half_written, "{");
  const lab::LateConclusion late = conclude_late(run);
  EXPECT_TRUE(late.made_record && late.made_events);
  EXPECT_EQ(but_for_times(late.record), but_for_times(undisturbed));
  EXPECT_EQ(late.record.wall_seconds.total, 105);
  EXPECT_EQ(read_record(run), late.record);
  EXPECT_FALSE(std::filesystem::exists(half_written));
}

TEST_F(LateConclusion, leaves_what_is_whole_and_mends_what_is_not) {
  const RunDirectory run = make_run_of_study(1);
  add_rank(run, 0, 4);
  const record::RunRecord first = conclude_late(run).record;
  EXPECT_FALSE(conclude_late(run).made_record);
  EXPECT_FALSE(conclude_late(run).made_events);
  std::filesystem::remove(run.events_file());
  EXPECT_TRUE(conclude_late(run).made_events);
  EXPECT_TRUE(std::filesystem::exists(run.events_file()));
  write_atomically(run.record_file(), "{\"schema\":");
  EXPECT_TRUE(conclude_late(run).made_record);
  EXPECT_EQ(read_record(run), first);
}

TEST_F(LateConclusion, of_a_run_that_did_not_finish_has_the_status_that_its_files_show) {
  const RunDirectory cut_off = make_run_of_study(2);
  add_rank(cut_off, 0, 2);
  EXPECT_EQ(conclude_late(cut_off).record.status, "interrupted");
  const RunDirectory failed = make_run_of_study(1);
  add(failed, {0, 1, record::FailedEvent{"data", "the images are upside down"}});
  EXPECT_EQ(conclude_late(failed).record.status, "failed");
}

TEST_F(LateConclusion, is_refused_while_the_launcher_or_a_rank_is_alive) {
  const RunDirectory run = make_run_of_study(1);
  add_rank(run, 0, 2);
  {
    const base::UniqueFd launcher = run.hold();
    EXPECT_THROW(conclude_late(run), base::ConfigError);
  }
  {
    const base::UniqueFd rank = base::hold_file(run.rank_file(0));
    EXPECT_THROW(conclude_late(run), base::ConfigError);
  }
  EXPECT_FALSE(run.has_record());
  EXPECT_TRUE(conclude_late(run).made_record);
}

TEST_F(LateConclusion, does_without_what_the_launcher_knew) {
  const RunDirectory run = make_run(1);
  add_rank(run, 0, 2);
  EXPECT_EQ(conclude_late(run).record.machine.at("cores"), 1);
  const RunDirectory damaged = make_run_of_study(1);
  add_rank(damaged, 0, 2);
  write_atomically(damaged.launch_file(), "{\"comm");
  EXPECT_EQ(conclude_late(damaged).record.cell, "workers=2");
}

// The events are the larger part: where they find no room, the record is there all the same.
TEST_F(Conclude, keeps_the_record_where_the_events_find_no_room) {
  const RunDirectory run = make_run(1);
  add_rank(run, 0, 4);
  std::filesystem::create_directory(run.events_file());  // nothing can be written there
  EXPECT_THROW(conclude(run, {}), base::StoreError);
  EXPECT_EQ(read_record(run).status, "finished");
  const ConcludedRun concluded = conclude_run(run, {}, nlohmann::json::object());
  EXPECT_EQ(concluded.trouble, "");
  EXPECT_THAT(concluded.no_events, HasSubstr("lockstep runs conclude " + run.id()));
}

TEST_F(Conclude, a_damaged_place_is_made_up_for_and_mended) {
  const StudyPlace place{"grid", "workers=2", 3};
  record::RunSpec spec;
  const RunDirectory with_launch = RunDirectory::create(store, spec, place, RunLaunch{1, {}, std::nullopt});
  const RunDirectory with_record = RunDirectory::create(store, spec, place);
  conclude(with_record, {});
  for (const RunDirectory& run : {with_launch, with_record}) {
    EXPECT_FALSE(run.mend_place());
    for (const std::string damage : {"", "{\"study\": \"gr", "[1]", "5"}) {
      write_atomically(run.place_file(), damage);
      EXPECT_EQ(run.place(), place) << damage;
      EXPECT_TRUE(run.mend_place());
      EXPECT_FALSE(run.mend_place());
    }
  }
  const RunDirectory of_no_study =
      RunDirectory::create(store, spec, std::nullopt, RunLaunch{1, {}, std::nullopt});
  conclude(of_no_study, {});
  EXPECT_EQ(of_no_study.place(), std::nullopt);
}

TEST_F(Conclude, a_run_without_a_record_is_said_to_be_running_or_killed) {
  const RunDirectory run = make_run(1);
  EXPECT_THROW(read_record(run), base::ConfigError);
  write_atomically(run.record_file(), "{");
  EXPECT_THROW(read_record(run), base::StoreError);
}

}  // namespace
}  // namespace lockstep::lab
