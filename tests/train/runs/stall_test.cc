// A gradient that one rank never produces: the run ends in time, with the rank and the gradient's name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/clock.h"
#include "tests/train/runs/started_training.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kSmall =
    "--model lenet5 --data digits --train-samples 400 --threads 1 --workers 3 --steps 50 --validate-every 0 ";

class Stall : public ::testing::TestWithParam<std::string> {
 protected:
  // Of rank 1, which hangs when it comes to the weight of the second convolution; the run must end by itself.
  TrainRun run_without_gradient(const std::string& flags) {
    StartedTraining training(store_, kSmall + flags + " --backend " + GetParam(),
                             {{"LOCKSTEP_WITHHOLD", "conv2.weight@1"}});
    TrainRun run = training.wait(40s);
    EXPECT_TRUE(training.ended_in_time()) << run.err;
    EXPECT_EQ(run.exit_code, 124) << run.err;
    EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
    return run;
  }
  TrainStore store_;
};

std::vector<std::string> warnings_of(const TrainRun& run) {
  return run.record.at("warnings").get<std::vector<std::string>>();
}

TEST_P(Stall, IsReportedByHorovodFirstAsAWarningAndThenAsTheErrorThatEndsTheRun) {
  const TrainRun run =
      run_without_gradient("--strategy horovod --overlap on --stall-warning 300ms --stall-shutdown 1500ms");
  EXPECT_THAT(run.err, AllOf(HasSubstr("stalled: after 1.50 s rank 1 has not produced"),
                             HasSubstr("conv2.weight"), HasSubstr("--stall-shutdown")));
  ASSERT_TRUE(run.record.is_object()) << run.err;
  EXPECT_EQ(run.record.at("status"), "failed");
  EXPECT_THAT(warnings_of(run),
              ::testing::Contains(AllOf(HasSubstr("stalled for 300"), HasSubstr("rank 1 has not produced"),
                                        HasSubstr("conv2.weight"))));
}

TEST_P(Stall, EndsHorovodAtTheTimeoutWhereNoOtherTimeIsGiven) {
  const TrainRun run = run_without_gradient("--strategy horovod --overlap on --timeout 2s");
  EXPECT_THAT(run.err, AllOf(HasSubstr("after 2.00 s rank 1 has not produced"), HasSubstr("conv2.weight")));
}

// Small buckets: the one that is waited for has few gradients.
TEST_P(Stall, IsReportedByDdpAtTheTimeoutWithTheBucketsGradients) {
  const TrainRun run = run_without_gradient(
      "--strategy ddp --overlap on --timeout 2s --first-bucket-bytes 4K --bucket-bytes 4K");
  EXPECT_THAT(run.err, HasSubstr("rank 1 has not arrived"));
  if (GetParam() == "mpi")
    return;  // a blocking call of MPI is ended from outside, which does not know buckets
  EXPECT_THAT(run.err, AllOf(HasSubstr("while adding up bucket"), HasSubstr("conv2.weight")));
}

INSTANTIATE_TEST_SUITE_P(Backends, Stall, ::testing::Values("shm", "gloo", "mpi"),
                         [](const auto& backend) { return backend.param; });

TEST(Withholding, AnUnknownParameterIsRefused) {
  const TrainStore store;
  const TrainRun run =
      store.train("--model lenet5 --data digits --steps 1", 60, "LOCKSTEP_WITHHOLD=conv9.weight");
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("LOCKSTEP_WITHHOLD is 'conv9.weight'"));
}

}  // namespace
}  // namespace lockstep::testing
