// `lockstep study`, `lockstep runs` and `lockstep compare` through the program, with a stand-in worker.
#include <fstream>

#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class StudyRun : public TrainTest {
 protected:
  void write(const std::string& text) const { std::ofstream(file()) << text; }
  std::filesystem::path file() const { return store / "grid.yaml"; }
  ProgramRun study(const std::string& arguments, const std::string& behaviour = "finish") const {
    return run_shell(
        setting(behaviour) + program() + " study '" + file().string() + "' --progress none " + arguments,
        120);
  }
  ProgramRun lockstep(const std::string& arguments) const {
    return run_shell(setting() + program() + " " + arguments);
  }

  const std::string good =
      "name: grid\ntitle: A grid\nquestion: Is it so?\nbase: {data: digits, steps: 3}\naxes: {workers: [1, "
      "2]}\nrepeats: 2\n";
};

TEST_F(StudyRun, runs_every_cell_and_marks_its_records) {
  write(good);
  const ProgramRun run = study("");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("all 2 repeats"), HasSubstr("4 runs now"), HasSubstr("done")));
  EXPECT_THAT(runs(), SizeIs(4));
  const auto listed = nlohmann::json::parse(lockstep("runs list --json --study grid").out);
  EXPECT_THAT(listed, SizeIs(4));
  EXPECT_EQ(
      nlohmann::json::parse(lockstep("runs show --json " + listed[0]["id"].get<std::string>()).out)["study"],
      "grid");
}

// As `srun -n2 lockstep study` starts it.
TEST_F(StudyRun, is_run_by_the_first_of_several_tasks_alone) {
  write(good);
  const ProgramRun run =
      run_shell(setting() + "export SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2\n" +
                    "for task in 1 0; do SLURM_PROCID=$task " + program() + " study '" + file().string() +
                    "' --progress none || exit; done",
                120);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("this is rank 1, as SLURM_PROCID says: rank 0 alone runs the study"));
  EXPECT_THAT(run.out, HasSubstr("4 runs now"));
  EXPECT_THAT(runs(), SizeIs(4));
}

TEST_F(StudyRun, resume_never_runs_again_what_has_ended_and_asks_before_it_mixes) {
  write(good);
  ASSERT_EQ(study("").exit_code, 0);
  const ProgramRun again = study("");
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.err, AllOf(HasSubstr("--resume"), HasSubstr("--fresh")));
  const ProgramRun nothing_left = study("--resume");
  EXPECT_THAT(nothing_left.out, HasSubstr("0 runs now, 4 from earlier"));
  EXPECT_THAT(nothing_left.err,
              AllOf(HasSubstr("2 cells x 2 repeats; nothing is left to run"), Not(HasSubstr("in all"))));
  std::filesystem::remove_all(runs().front());
  EXPECT_THAT(study("--resume").err, HasSubstr("; 1 run to go, about "));
  const ProgramRun changed = study("--resume --set steps=4");
  EXPECT_THAT(changed.out,
              AllOf(HasSubstr("4 runs now, 0 from earlier"), HasSubstr("4 runs of other versions")));
  const ProgramRun fresh = study("--fresh");
  EXPECT_THAT(fresh.out, AllOf(HasSubstr("4 runs now"), HasSubstr("8 earlier runs removed"),
                               Not(HasSubstr("other versions"))));
  EXPECT_THAT(runs(), SizeIs(4));
}

TEST_F(StudyRun, failed_runs_do_not_end_a_study_and_are_tried_again) {
  write(good);
  const ProgramRun failed = study("", "fail");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("failed: not repeated"));
  EXPECT_THAT(runs(), SizeIs(2));
  EXPECT_THAT(study("--resume").out, AllOf(HasSubstr("4 runs now"), Not(HasSubstr("failed"))));
  EXPECT_THAT(runs(), SizeIs(4));
}

TEST_F(StudyRun, a_signal_ends_it_with_a_word_about_resuming) {
  write(good);
  // Not SIGINT: a shell that is not for people starts what it puts into the background with it ignored.
  const ProgramRun run =
      run_shell(setting("wait") + program() + " study '" + file().string() +
                    "' --progress none & study=$!\n" + "until grep -qs step '" + (store / "runs").string() +
                    "'/*/rank0.jsonl; do sleep 0.1; done\n" + "kill -TERM $study; wait $study",
                120);
  EXPECT_EQ(run.exit_code, 143);
  EXPECT_THAT(run.out, HasSubstr("--resume goes on"));
  EXPECT_THAT(study("--resume").out, HasSubstr("4 runs now"));
}

// What a finished cell leaves is not worth a second run, whatever became of the files around it.
TEST_F(StudyRun, a_finished_cell_never_runs_again) {
  write(good);
  ASSERT_EQ(study("").exit_code, 0);
  const auto before = runs();
  ASSERT_THAT(before, SizeIs(4));
  std::ofstream(before[0] / "place.json") << "{\"study\": \"gr";
  std::filesystem::remove(before[1] / "record.json");  // its study was killed before it was made
  std::filesystem::remove(before[1] / "events.jsonl");
  std::ofstream(before[2] / "record.json") << "{\"schema\": 1";
  std::ofstream(before[3] / "launch.json") << "";
  std::filesystem::remove(before[3] / "events.jsonl");  // its study was killed between the two
  const ProgramRun resumed = study("--resume");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(runs(), before);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("place.json was damaged"), HasSubstr("had no record: it was made"),
                                 HasSubstr("had no merged events: they were made")));
  for (const auto& run : before) {
    EXPECT_TRUE(std::filesystem::exists(run / "events.jsonl"));
    const auto record = nlohmann::json::parse(run_shell("cat '" + (run / "record.json").string() + "'").out);
    EXPECT_EQ(record["status"], "finished");
    EXPECT_EQ(record["study"], "grid");
  }
}

TEST_F(StudyRun, dry_run_lists_cells_with_an_estimate_and_runs_nothing) {
  write(good);
  const ProgramRun run = study("--dry-run");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("workers=2"), HasSubstr("~"), HasSubstr("2 cells x 2 repeats")));
  const auto json = nlohmann::json::parse(study("--dry-run --json").out);
  EXPECT_THAT(json["cells"], SizeIs(2));
  EXPECT_GT(json["estimate_seconds"], 0);
  EXPECT_THAT(runs(), SizeIs(0));
}

TEST_F(StudyRun, what_cannot_run_here_is_listed_with_its_reason) {
  write(good + "stand_ins: {data: {cifar10: digits}}\n");
  const ProgramRun missing =
      run_shell(setting() + "export LOCKSTEP_DATA=/nowhere HOME=/nowhere XDG_DATA_HOME=/nowhere; " +
                program() + " study '" + file().string() + "' --dry-run --set data=mnist");
  EXPECT_THAT(missing.out, HasSubstr("cannot run here"));
  const ProgramRun stands_in =
      run_shell(setting() + "export LOCKSTEP_DATA=/nowhere HOME=/nowhere XDG_DATA_HOME=/nowhere; " +
                program() + " study '" + file().string() + "' --dry-run --set data=cifar10");
  EXPECT_THAT(stands_in.out,
              AllOf(HasSubstr("digits stands in for cifar10"), Not(HasSubstr("cannot run here"))));
}

TEST_F(StudyRun, an_impossible_combination_is_refused_with_file_and_line_before_anything_runs) {
  write(good + "exclude: []\n");
  write(
      "name: grid\ntitle: A grid\nquestion: Is it so?\nbase: {data: digits}\naxes:\n  strategy: [single, "
      "ddp]\n  workers: [1, 2]\n");
  const ProgramRun run = study("");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("grid.yaml:6:14: "), HasSubstr("The nearest that works"),
                             HasSubstr("workers=2")));
  EXPECT_THAT(runs(), SizeIs(0));
}

TEST_F(StudyRun, a_mistake_in_set_is_one_of_usage) {
  write(good);
  const ProgramRun run = study("--dry-run --set foo=1");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("error: --set: there is no field 'foo'"));
}

TEST_F(StudyRun, a_file_that_is_no_text_is_refused_without_being_shown) {
  write(std::string("name: a\x1b[31m\0\xff", 14));
  const ProgramRun run = study("--dry-run");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("grid.yaml:1: the byte 0x1b is no text"), Not(HasSubstr("\x1b"))));
  const ProgramRun typed = lockstep("study $'no\\033[31msuch'");
  EXPECT_THAT(typed.err, AllOf(HasSubstr("no\\x1b[31msuch"), Not(HasSubstr("\x1b"))));
}

TEST_F(StudyRun, a_second_document_is_refused_with_its_line) {
  write(good + "---\nname: other\n");
  const ProgramRun run = study("--dry-run");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("grid.yaml:8:"), HasSubstr("a second document begins here")));
  write("---\n" + good);
  EXPECT_EQ(study("--dry-run").exit_code, 0);
}

TEST_F(StudyRun, compare_says_what_differs_and_exits_5_beyond_a_threshold) {
  write(good);
  ASSERT_EQ(study("").exit_code, 0);
  ASSERT_EQ(lockstep("runs export grid -o '" + (store / "a.jsonl").string() + "'").exit_code, 0);
  const ProgramRun same = lockstep("compare grid '" + (store / "a.jsonl").string() + "' --threshold 1%");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("step_seconds"));
  run_shell("sed 's/\"median\":0.01/\"median\":0.02/' '" + (store / "a.jsonl").string() + "' > '" +
            (store / "b.jsonl").string() + "'");
  const ProgramRun worse = lockstep("compare '" + (store / "a.jsonl").string() + "' '" +
                                    (store / "b.jsonl").string() + "' --threshold 5%");
  EXPECT_EQ(worse.exit_code, 5) << worse.out;
  EXPECT_THAT(worse.err, HasSubstr("100.0 % worse, more than the threshold of 5.0 % allows"));
}

TEST_F(StudyRun, compare_says_of_which_side_there_is_one_run) {
  write(good);
  ASSERT_EQ(study("").exit_code, 0);
  const std::string all = "'" + (store / "all.jsonl").string() + "'";
  const std::string one = "'" + (store / "one.jsonl").string() + "'";
  ASSERT_EQ(lockstep("runs export grid -o " + all).exit_code, 0);
  run_shell("sed -n 's/\"total\":[0-9.e-]*/\"total\":900/; /\"cell\":\"workers=1\"/p' " + all +
            " | head -n 1 > " + one);
  run_shell("sed -i '/\"cell\":\"workers=2\"/d' " + all);
  const auto told = [&](const std::string& a, const std::string& b) {
    return lockstep("compare --figure total_seconds --threshold 5% " + a + " " + b);
  };
  const ProgramRun more = told(all, one);
  EXPECT_THAT(more.out, AllOf(HasSubstr("one run in B: cannot tell"), Not(HasSubstr("one run each"))));
  EXPECT_THAT(more.err, HasSubstr("worse (one run in B): whether that is noise cannot be told"));
  EXPECT_THAT(told(one, all).out, HasSubstr("one run in A: cannot tell"));
  run_shell("sed -i 2,\\$d " + all);
  EXPECT_THAT(told(all, one).out, HasSubstr("one run each: cannot tell"));
}

TEST_F(StudyRun, compare_says_in_which_fields_the_specs_differ) {
  write(good);
  ASSERT_EQ(study("").exit_code, 0);
  const std::string old = "'" + (store / "old.jsonl").string() + "'";
  ASSERT_EQ(lockstep("runs export grid -o " + old).exit_code, 0);
  EXPECT_THAT(lockstep("compare grid " + old).out, Not(HasSubstr("specs differ")));
  ASSERT_EQ(study("--fresh --set seed=7").exit_code, 0);
  EXPECT_THAT(lockstep("compare " + old + " grid").out,
              AllOf(HasSubstr("\nspecs differ: seed (1 in A, 7 in B)\n"), HasSubstr("mean A")));
  const auto json = nlohmann::json::parse(lockstep("compare --json " + old + " grid").out);
  EXPECT_EQ(json[0]["specs_differ"]["seed"]["b"], "7");
}

TEST_F(StudyRun, exported_records_come_into_another_store) {
  write(good);
  ASSERT_EQ(study("").exit_code, 0);
  const std::string out = (store / "all.jsonl").string(), other = (store / "other").string();
  ASSERT_EQ(lockstep("runs export -o '" + out + "'").exit_code, 0);
  EXPECT_THAT(lockstep("runs import '" + out + "' --store '" + other + "'").out,
              HasSubstr("4 runs imported"));
  EXPECT_THAT(lockstep("runs import '" + out + "' --store '" + other + "'").out,
              HasSubstr("4 known already"));
  EXPECT_THAT(lockstep("runs reindex --store '" + other + "'").out, HasSubstr("4 runs"));
}

TEST_F(StudyRun, a_study_travels_with_its_records) {
  write(good);
  ASSERT_EQ(study("").exit_code, 0);
  const std::string file = "'" + (store / "grid.json").string() + "'";
  const std::string elsewhere = " --store '" + (store / "elsewhere").string() + "'";
  ASSERT_EQ(lockstep("runs export grid --format study -o " + file).exit_code, 0);
  EXPECT_EQ(lockstep("runs export grid grid --format study").exit_code, 2);
  EXPECT_EQ(lockstep("runs export gird --format study").exit_code, 3);
  const ProgramRun here = lockstep("report grid"), there = lockstep("report " + file);
  EXPECT_EQ(there.exit_code, 0) << there.err;
  EXPECT_EQ(there.out, here.out);
  EXPECT_THAT(lockstep("runs import " + file + elsewhere).out, HasSubstr("4 runs imported"));
  run_shell("head -c 3000 " + file + " > '" + (store / "cut.json").string() + "'");
  EXPECT_EQ(lockstep("report '" + (store / "cut.json").string() + "'").exit_code, 3);
}

// Every built-in study and its quick variant is a study that this version's catalogue can plan.
TEST_F(StudyRun, every_builtin_study_can_be_planned_in_both_variants) {
  const auto list = nlohmann::json::parse(lockstep("study --list --json").out);
  const std::vector<std::string> expected = {
      "batch-scaling",   "driving",           "epochs-to-target",   "five-models",
      "large-batch",     "memory-error",      "messages",           "psnr",
      "quickstart",      "sampler-epoch",     "side-by-side",       "tcp-vs-nccl",
      "trainable-share", "transported-bytes", "vanilla-vs-library", "vit-scaling"};
  std::vector<std::string> names;
  for (const auto& study : list) names.push_back(study["name"]);
  EXPECT_EQ(names, expected);
  for (const std::string& name : names)
    for (const char* variant : {"", " --quick"}) {
      const ProgramRun planned = lockstep("study " + name + " --dry-run --json" + variant);
      EXPECT_EQ(planned.exit_code, 0) << name << variant << ": " << planned.err;
    }
}

}  // namespace
}  // namespace lockstep::testing
