// `lockstep fit` finds batches that really train, and whose next larger one really does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program_run.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;

const std::string kModel =
    "--model deepwide --model-options width=32,depth=8 --data digits --optimizer adam ";
const std::string kCap = "--device-memory 12MiB ";

nlohmann::json fit(const std::string& arguments) {
  const ProgramRun run = run_shell(program() + " fit " + kModel + kCap + "--json " + arguments, 300);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return nlohmann::json::parse(run.out);
}

int train_with(const TrainStore& store, std::int64_t batch) {
  return store
      .train(kModel + kCap + "--strategy single --validate-every 0 --steps 3 --batch-size " +
             std::to_string(batch) + " --train-samples " + std::to_string(batch))
      .exit_code;
}

TEST(Fit, LeavesNothingBehindWhenItIsInterrupted) {
  const std::string directory = run_shell("mktemp -d", 10).out;
  const std::string place = directory.substr(0, directory.find('\n'));
  const ProgramRun run = run_shell("TMPDIR=" + place + " timeout --preserve-status -s INT 2 " + program() +
                                       " fit " + kModel + "--device-memory 64MiB",
                                   60);
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
  EXPECT_EQ(run_shell("ls -A " + place, 10).out, "");
  run_shell("rmdir " + place, 10);
}

TEST(Fit, FindsTheLargestBatchOfEachAnswer) {
  const nlohmann::json found = fit("--answers single,single+accumulate,single+recompute,zero3");
  ASSERT_EQ(found.at("answers").size(), 4u);
  for (const nlohmann::json& answer : found.at("answers")) {
    EXPECT_LE(answer.at("peak_bytes"), found.at("device_memory")) << answer;
    EXPECT_GT(answer.at("seconds_per_sample"), 0.0) << answer;
    EXPECT_LE(answer.at("trials"), 10) << answer;
  }
  const auto batch = [&](std::size_t answer) {
    return found["answers"][answer]["batch_per_worker"].get<std::int64_t>();
  };
  EXPECT_GT(batch(1), batch(0));  // in parts
  EXPECT_GT(batch(2), batch(0));  // recomputed
  EXPECT_GE(batch(3), batch(0));  // divided
  EXPECT_THAT(found.at("advice").get<std::string>(), HasSubstr("On one worker, "));
  const TrainStore store;
  EXPECT_EQ(train_with(store, batch(0)), 0);
  EXPECT_EQ(train_with(store, batch(0) + 1), 1);
}

TEST(Fit, SaysWhatItNeedsAndWhatFailed) {
  EXPECT_EQ(run_shell(program() + " fit --model lenet5").exit_code, 2);
  const ProgramRun none =
      run_shell(program() + " fit --model lenet5 --data digits --device-memory 100K --answers single");
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_THAT(none.out, HasSubstr("Nothing fits"));
  const ProgramRun unknown =
      run_shell(program() + " fit --model lenet6 --data digits --device-memory 1M --answers single");
  EXPECT_NE(unknown.exit_code, 0);
  EXPECT_THAT(unknown.err, HasSubstr("lenet6"));
}

}  // namespace
}  // namespace lockstep::testing
