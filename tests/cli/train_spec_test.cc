// How a spec is asked for: files, flags, --set, mistakes, --dry-run.
#include <fstream>

#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class TrainSpec : public TrainTest {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(store / name) << text;
    return "'" + (store / name).string() + "'";
  }
  // Data that need no files: a dry run looks whether they are there.
  static nlohmann::json planned(const std::string& arguments) {
    const ProgramRun run = run_lockstep("train --dry-run --json --data digits " + arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.exit_code == 0 ? nlohmann::json::parse(run.out) : nlohmann::json::object();
  }
};

TEST_F(TrainSpec, a_dry_run_starts_and_keeps_nothing) {
  const ProgramRun run = train("--dry-run --workers 4 --global-batch 64");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("batch 16 per worker, 64 global"), HasSubstr("strategy: ddp")));
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(TrainSpec, flags_override_the_file_and_set_overrides_both) {
  const std::string yaml = file("run.yaml", "model: vit\nworkers: 2\nbatch_size: 8\nseed: 7\n");
  const auto spec = planned(yaml +
                            " --batch-size 16 --learning_rate=0.5 --set batch_size=64 --set "
                            "model_options.width=8")["spec"];
  EXPECT_EQ(spec["model"], "vit");
  EXPECT_EQ(spec["workers"], 2);
  EXPECT_EQ(spec["seed"], 7);
  EXPECT_EQ(spec["batch_size"], 64);
  EXPECT_EQ(spec["learning_rate"], 0.5);
  EXPECT_EQ(spec["model_options"]["width"], 8);
}

TEST_F(TrainSpec, either_way_of_giving_the_batch_replaces_what_the_file_has_of_both) {
  const std::string per_worker = file("per_worker.yaml", "workers: 2\nbatch_size: 32\n");
  const std::string global = file("global.yaml", "workers: 2\nglobal_batch: 32\n");
  EXPECT_EQ(planned(per_worker + " --global-batch 128")["batch"]["global"], 128);
  EXPECT_EQ(planned(global + " --batch-size 8")["batch"]["per_worker"], 8);
  EXPECT_EQ(planned(global + " --batch-size 8 --set global_batch=20")["batch"]["global"], 20);
  EXPECT_EQ(planned(global + " --seed 2")["batch"]["global"], 32);
  const std::string both = file("both.yaml", "batch_size: 8\nglobal_batch: 32\n");
  EXPECT_EQ(run_lockstep("train --dry-run " + both).exit_code, 3);
  EXPECT_EQ(run_lockstep("train --dry-run --batch-size 8 --global-batch 32").exit_code, 3);
}

TEST_F(TrainSpec, an_empty_name_and_an_empty_file_are_refused) {
  const ProgramRun nameless = run_lockstep("train '' --dry-run");
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_THAT(nameless.err, HasSubstr("an argument is empty"));
  const ProgramRun empty = run_lockstep("train --dry-run " + file("empty.yaml", "\n"));
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_THAT(empty.err, HasSubstr("empty.yaml' is empty"));
}

TEST_F(TrainSpec, true_and_false_may_be_said_in_every_way) {
  EXPECT_EQ(planned("")["spec"]["measure"], true);
  EXPECT_EQ(planned("--no-measure")["spec"]["measure"], false);
  EXPECT_EQ(planned("--measure false")["spec"]["measure"], false);
  EXPECT_EQ(planned("--measure=off")["spec"]["measure"], false);
  EXPECT_EQ(planned("--nesterov")["spec"]["nesterov"], true);
  EXPECT_EQ(planned("--no-measure --measure")["spec"]["measure"], true);
  EXPECT_EQ(planned("--nesterov --no_nesterov")["spec"]["nesterov"], false);
}

TEST_F(TrainSpec, what_a_dry_run_prints_is_a_spec_file_of_the_same_run) {
  const std::filesystem::path place = store / "some where";
  std::filesystem::create_directory(place);
  const std::string wish =
      "--model vit --model-options width=8,depth=3 --workers 2 --device-memory 512MiB "
      "--max-time 10m --trainable share:50% --data-dir '" +
      place.string() + "'";
  const ProgramRun printed = run_lockstep("train --dry-run --data digits " + wish);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(planned(file("again.yaml", printed.out)), planned(wish));
}

TEST_F(TrainSpec, mistakes_on_the_line_exit_with_2_and_a_suggestion) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"--modle vit", "Did you mean '--model'?"},
      {"--no-mesure", "Did you mean '--no-measure'?"},
      {"--model lenet6", "Did you mean 'lenet5'?"},
      {"--data fasion-mnist", "Did you mean 'fashion-mnist'?"},
      {"--optimizer sdg", "Did you mean 'sgd'?"},
      {"--set batchsize=3", "Did you mean 'batch_size'?"},
      {"--set batch_size", "is not FIELD=VALUE"},
      {"--workers 2.5", "whole number"},
      {"--batch-size", "needs a value"},
      {"--measure=perhaps", "true or false"},
      {"--measure perhaps", "true or false"},
      {"--no-measure=false", "--no-measure takes no value"},
      {"--learning-rate 1e-400", "out of range"},
      {"--device-memory many", "512MiB"},
      {"--progress loud", "none of auto, bar, lines, none"},
  };
  for (const auto& [line, expected] : mistakes) {
    const ProgramRun run = run_lockstep(std::string("train ") + line);
    EXPECT_EQ(run.exit_code, 2) << line << "\n" << run.err;
    EXPECT_THAT(run.err, AllOf(StartsWith("error: "), HasSubstr(expected))) << line;
  }
}

TEST_F(TrainSpec, what_cannot_run_exits_with_3_and_names_the_nearest_that_works) {
  const std::pair<std::string, const char*> refused[] = {
      {"--batch-size 8 --global-batch 16", "only one of them may be"},
      {"--model pilotnet --data digits", "model pilotnet is for steering"},
      {"--strategy single --workers 2", "strategy ddp, or workers 1"},
      {"--backend nccl --device cpu --workers 2", "backend shm"},
      {"--model vgg16 --image-size 16", "image_size 32"},
      {"--data digits --loss mse", "loss cross-entropy"},
      {"--model deepwide --model-options width=100000000", "width=1000000"},
      {"/nowhere/run.yaml", "cannot be read"},
      {file("bad.yaml", "model: lenet5\nworkers: few\n"), "bad.yaml:2:1"},
      {file("unknown.yaml", "modle: lenet5\n"), "Did you mean 'model'?"},
  };
  for (const auto& [line, expected] : refused) {
    const ProgramRun run = run_lockstep("train --dry-run " + line);
    EXPECT_EQ(run.exit_code, 3) << line << "\n" << run.err;
    EXPECT_THAT(run.err, HasSubstr(expected)) << line;
  }
}

TEST_F(TrainSpec, a_dry_run_looks_for_the_files_as_the_run_does) {
  for (const char* line : {"--data images:/nowhere --model restorer", "--data digits --data-dir /nowhere",
                           "--data digits --weights /nowhere", "--data digits --resume /nowhere"}) {
    const ProgramRun run = run_lockstep(std::string("train --dry-run ") + line);
    EXPECT_EQ(run.exit_code, 3) << line << "\n" << run.err;
    EXPECT_THAT(run.err, HasSubstr("does not exist. Nothing was started.")) << line;
    EXPECT_THAT(run.out, IsEmpty()) << line;
  }
}

TEST_F(TrainSpec, cuda_without_a_gpu_is_exit_4_with_the_reason) {
  if (run_shell("ls /dev/nvidia0").exit_code == 0) GTEST_SKIP() << "there is a GPU here";
  const ProgramRun run = run_lockstep("train --dry-run --device cuda");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.err, HasSubstr("device cuda cannot be used here"));
}

TEST_F(TrainSpec, a_backend_of_gpus_without_a_gpu_is_exit_4_unless_cores_were_asked_for) {
  if (run_shell("ls /dev/nvidia0").exit_code == 0) GTEST_SKIP() << "there is a GPU here";
  const ProgramRun run = train("--backend nccl --workers 2");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.err, AllOf(HasSubstr("backend nccl cannot be used here"), HasSubstr("needs GPUs")));
  EXPECT_EQ(train("--backend nccl --workers 2 --device cpu").exit_code, 3);
  EXPECT_EQ(train("--backend nccl --strategy dp --workers 2").exit_code, 3);
}

TEST_F(TrainSpec, the_help_lists_every_field_under_its_heading) {
  const ProgramRun run = run_lockstep("train --help");
  for (const char* part : {"What is trained\n", "--model TEXT", "--[no-]measure", "--first-bucket-bytes SIZE",
                           "Options of the strategy\n", "--dry-run", "[FILE]"})
    EXPECT_THAT(run.out, HasSubstr(part));
}

}  // namespace
}  // namespace lockstep::testing
