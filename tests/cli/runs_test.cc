// `lockstep runs`, `lockstep models` and `lockstep data` through the program.
#include <fstream>

#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Runs : public TrainTest {
 protected:
  ProgramRun lockstep(const std::string& arguments) const {
    return run_shell(setting() + program() + " " + arguments);
  }
  std::string id(std::size_t index) const { return runs().at(index).filename().string(); }
};

TEST_F(Runs, list_says_what_ran_and_how_it_ended) {
  EXPECT_THAT(lockstep("runs").out, HasSubstr("no runs in"));
  train("--workers 2");
  train("", "fail");
  const ProgramRun list = lockstep("runs list");
  EXPECT_THAT(list.out,
              AllOf(HasSubstr(id(0)), HasSubstr("finished"), HasSubstr("failed"), HasSubstr("ddp")));
  const auto json = nlohmann::json::parse(lockstep("runs list --json").out);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["status"], "finished");
  EXPECT_EQ(json[0]["workers"], 2);
}

// The launcher stands still while its ranks finish, and is killed before it has seen that.
TEST_F(Runs, conclude_makes_the_record_of_a_run_whose_launcher_was_killed) {
  ASSERT_EQ(train("--workers 2 --threads 1").exit_code, 0);
  const ProgramRun killed = run_shell(
      setting() + "export STAND_IN_PAUSE=0.1\n" + program() +
      " train --data digits --workers 2 --threads 1 2> /dev/null & launcher=$!\n"
      "newest() { ls -d '" +
      store.string() +
      "'/runs/2* | tail -n 1; }\n"
      "until [ $(ls -d '" +
      store.string() +
      "'/runs/2* | wc -l) = 2 ] && grep -qs step $(newest)/rank1.jsonl; do "
      "sleep 0.02; done\nkill -STOP $launcher\n"
      "until grep -qs finished $(newest)/rank0.jsonl && grep -qs finished $(newest)/rank1.jsonl; do sleep "
      "0.02; done\n" +
      program() + " runs conclude $(newest)/; echo alive: $?\nkill -KILL $launcher; wait $launcher");
  EXPECT_EQ(killed.exit_code, 137);
  EXPECT_THAT(killed.out, HasSubstr("alive: 3"));
  EXPECT_THAT(killed.err, HasSubstr("is still alive"));
  EXPECT_THAT(lockstep("runs show " + id(1)).err, HasSubstr("lockstep runs conclude " + id(1)));
  const ProgramRun concluded = lockstep("runs conclude " + id(1));
  EXPECT_EQ(concluded.exit_code, 0) << concluded.err;
  EXPECT_EQ(concluded.out, id(1) + " finished: made its record from what its ranks wrote\n");
  EXPECT_EQ(lockstep("runs conclude " + id(1)).out, id(1) + " finished: its record was there\n");
  const auto shown = [&](std::size_t index) {
    auto record = nlohmann::json::parse(lockstep("runs show --json " + id(index)).out);
    for (const char* name : {"id", "wall_seconds"}) record.erase(name);
    return record;
  };
  EXPECT_EQ(shown(1), shown(0));
}

// Each rank's file fits, and both together do not; as on a full disk, but for the number of the error.
TEST_F(Runs, a_finished_run_keeps_its_record_where_the_merged_events_find_no_room) {
  const ProgramRun run = run_shell(setting() + "trap '' XFSZ; ulimit -f 96\n" + program() +
                                   " train --data digits --workers 2 --threads 1 --steps 200");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the record is kept, but not all ranks' events in one file"));
  EXPECT_EQ(kept_record()["status"], "finished");
  EXPECT_FALSE(std::filesystem::exists(runs().at(0) / "events.jsonl"));
  EXPECT_THAT(lockstep("runs conclude " + id(0)).out, HasSubstr("put its ranks' events together"));
  EXPECT_TRUE(std::filesystem::exists(runs().at(0) / "events.jsonl"));
}

TEST_F(Runs, a_study_that_no_run_is_of_is_named_with_those_there_are) {
  train("");
  const ProgramRun none = lockstep("runs list --study nosuch");
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, AllOf(HasSubstr("is of a study 'nosuch'"), HasSubstr("None is of any study.")));
  std::ofstream(store / "grid.yaml")
      << "name: grid\ntitle: T\nquestion: Q?\nbase: {data: digits, steps: 2}\n";
  ASSERT_EQ(lockstep("study '" + (store / "grid.yaml").string() + "' --progress none").exit_code, 0);
  const ProgramRun other = lockstep("runs list --study gird");
  EXPECT_THAT(other.err, AllOf(HasSubstr("Did you mean 'grid'?"), HasSubstr("Its studies are: grid.")));
  EXPECT_EQ(lockstep("runs rm --study nosuch").exit_code, 3);
}

TEST_F(Runs, a_store_that_is_a_file_or_does_not_exist_is_an_error) {
  const ProgramRun file = lockstep("runs list --store /etc/passwd");
  EXPECT_EQ(file.exit_code, 3);
  EXPECT_THAT(file.err, HasSubstr("/etc/passwd is not a directory"));
  for (const char* line : {"runs list", "runs show 2026", "runs export", "compare a b"}) {
    const ProgramRun absent = lockstep(std::string(line) + " --store /nowhere/store");
    EXPECT_EQ(absent.exit_code, 3) << line;
    EXPECT_THAT(absent.err, HasSubstr("the store /nowhere/store does not exist")) << line;
  }
  const ProgramRun fresh = run_shell("LOCKSTEP_STORE=/nowhere/store " + program() + " runs list");
  EXPECT_EQ(fresh.exit_code, 0) << fresh.err;
  EXPECT_THAT(fresh.out, HasSubstr("which does not exist yet"));
}

TEST_F(Runs, a_store_that_may_only_be_read_is_listed_without_a_warning) {
  train("");
  // In a namespace of its own: for root, permissions alone forbid nothing.
  const std::string place = store.string();
  const ProgramRun list = run_shell("unshare --mount true || exit 77; unshare --mount sh -c 'mount --bind " +
                                    place + " " + place + " && mount -o remount,ro,bind " + place +
                                    " || exit 77; LOCKSTEP_STORE=" + place + " " + program() + " runs list'");
  if (list.exit_code == 77) GTEST_SKIP() << "no namespaces here: " << list.err;
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("finished"));
  EXPECT_THAT(list.err, IsEmpty());
}

TEST_F(Runs, show_prints_what_train_printed) {
  const ProgramRun run = train("");
  EXPECT_EQ(lockstep("runs show " + id(0)).out, run.out);
  EXPECT_EQ(lockstep("runs show " + id(0).substr(0, 18)).out, run.out);
  EXPECT_EQ(nlohmann::json::parse(lockstep("runs show --json " + id(0)).out), kept_record());
}

TEST_F(Runs, the_shown_spec_makes_the_same_run_again) {
  train("--model vit --model-options width=8 --seed 5");
  for (const char* form : {"yaml", "json"}) {
    const std::string file = "'" + (store / "again.").string() + form + "'";
    const std::string json = form == std::string("json") ? " --json" : "";
    EXPECT_EQ(lockstep("runs show --spec " + id(0) + json + " > " + file).exit_code, 0);
    const ProgramRun planned = lockstep("train --dry-run --json " + file);
    EXPECT_EQ(nlohmann::json::parse(planned.out)["spec"], kept_record()["spec"]) << form;
  }
}

TEST_F(Runs, rm_removes_a_run_and_asks_for_force_where_there_is_no_record) {
  train("");
  train("");
  std::filesystem::remove(runs().at(1) / "record.json");
  EXPECT_EQ(nlohmann::json::parse(lockstep("runs list --json").out)[1]["status"], "no record");
  EXPECT_EQ(lockstep("runs rm " + id(1)).exit_code, 3);
  EXPECT_EQ(lockstep("runs show " + id(1)).exit_code, 3);
  EXPECT_EQ(lockstep("runs rm --force " + id(0) + " " + id(1)).exit_code, 0);
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(Runs, mistakes_are_explained) {
  EXPECT_THAT(lockstep("runs lsit").err, HasSubstr("Did you mean 'list'?"));
  EXPECT_EQ(lockstep("runs lsit").exit_code, 2);
  EXPECT_EQ(lockstep("runs show").exit_code, 2);
  EXPECT_EQ(lockstep("runs show 1999").exit_code, 3);
}

TEST_F(Runs, models_are_those_the_worker_describes) {
  const ProgramRun json = lockstep("models --json");
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(nlohmann::json::parse(json.out)[0]["parameters"], 61706);
  EXPECT_THAT(lockstep("models").out, AllOf(HasSubstr("lenet5"), HasSubstr("61,706"), HasSubstr("0.8322 M")));
  EXPECT_EQ(nlohmann::json::parse(lockstep("models --json --classes 100").out)[0]["classes"], 100);
}

TEST_F(Runs, a_worker_that_cannot_be_run_is_exit_4_for_models_too) {
  const ProgramRun run = run_shell("LOCKSTEP_WORKER=/nowhere " + program() + " models");
  EXPECT_EQ(run.exit_code, 4);
}

TEST_F(Runs, data_lists_sets_the_places_looked_in_and_the_way_to_get_them) {
  const ProgramRun list = run_shell("HOME=/nowhere XDG_DATA_HOME=/nowhere/share " + program() + " data");
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.out, AllOf(HasSubstr("cifar10 was looked for in"), HasSubstr("/nowhere/share"),
                              HasSubstr("lockstep data get cifar10"), HasSubstr("50,000 + 10,000")));
  const auto json = nlohmann::json::parse(run_lockstep("data --json").out);
  EXPECT_EQ(run_lockstep("data --data-dir /nowhere").exit_code, 3);
  EXPECT_TRUE(json.is_array());
  EXPECT_THAT(json.dump(), HasSubstr("looked_in"));
}

TEST_F(Runs, data_get_explains_what_cannot_be_had) {
  EXPECT_THAT(run_lockstep("data get minst").err, HasSubstr("Did you mean 'mnist'?"));
  EXPECT_EQ(run_lockstep("data get").exit_code, 2);
  EXPECT_EQ(run_lockstep("data got mnist").exit_code, 2);
  const ProgramRun driving = run_lockstep("data get driving");
  EXPECT_EQ(driving.exit_code, 3);
  EXPECT_THAT(driving.err, Not(IsEmpty()));
}

}  // namespace
}  // namespace lockstep::testing
