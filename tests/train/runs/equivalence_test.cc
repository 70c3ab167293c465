// N workers compute what one does with the same global batch, step by step.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/ranks.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

struct Case {
  std::string name;
  std::string flags;
  double tolerance;
};

// Augmentation and dropout are on where a model or set has them: what is random must not depend on N.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"lenet5_f64", "--model lenet5 --precision f64", 1e-9},
      {"vit_f64", "--model vit --precision f64", 1e-9},
      {"squeezenet1_0_f64",
       "--model squeezenet1_0 --data digits --train-samples 240 --image-size 32 --precision f64", 1e-9},
      {"narrow_resnet18_cifar_f64",
       "--model resnet18-cifar --model-options width=8 --data digits --train-samples 240 --image-size 16 "
       "--augment "
       "crop-flip --buffers sync --precision f64",
       1e-9},
      {"lenet5_f32", "--model lenet5 --precision f32", 1e-4},
      {"vit_f32", "--model vit --precision f32", 1e-4},
  };
  return all;
}

std::string flags_for(const Case& one, int workers, const std::string& more = "") {
  return one.flags +
         " --global-batch 24 --steps 20 --learning-rate 0.02 --validate-every 0 --check-every 1 --workers " +
         std::to_string(workers) + " --threads 1 " + more;
}

class Equivalence : public ::testing::TestWithParam<Case> {};

TEST_P(Equivalence, OneToFourWorkersFollowTheSameLossCurve) {
  const TrainStore store;
  const TrainRun alone = store.train(flags_for(GetParam(), 1));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  ASSERT_EQ(alone.losses().size(), 20u);
  EXPECT_NE(alone.losses().front(), alone.losses().back());
  for (int workers = 2; workers <= 4; ++workers) {
    const TrainRun together = store.train(flags_for(GetParam(), workers));
    ASSERT_EQ(together.exit_code, 0) << together.err;
    EXPECT_LE(largest_difference(alone.losses(), together.losses()), GetParam().tolerance)
        << workers << " workers";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Equivalence, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

// One worker's own gradient is the whole one; of three, 24 samples are the same whole.
TEST(Equivalence, HoldsForTheSquaredNormOfTheReducedGradient) {
  const TrainStore store;
  const auto norms = [&store](int workers) {
    const TrainRun run = store.train(flags_for(cases().front(), workers, "--strategy ddp --skip-steps 0"));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.record.at("comm").at("gradient_square_norm");
  };
  const nlohmann::json alone = norms(1), together = norms(3);
  const double whole = alone.at("reduced");
  EXPECT_GT(whole, 0);
  EXPECT_NEAR(alone.at("local").get<double>(), whole, 1e-12 * whole);
  EXPECT_NEAR(together.at("reduced").get<double>(), whole, 1e-9 * whole);
  EXPECT_GT(std::abs(together.at("local").get<double>() - whole), 1e-3 * whole);
}

TEST(Equivalence, HoldsOverEveryBackend) {
  const TrainStore store;
  const Case& lenet = cases().front();
  const TrainRun alone = store.train(flags_for(lenet, 1));
  for (const std::string backend : {"shm", "gloo", "mpi"}) {
    const TrainRun together = store.train(flags_for(lenet, 3, "--backend " + backend));
    ASSERT_EQ(together.exit_code, 0) << together.err;
    EXPECT_LE(largest_difference(alone.losses(), together.losses()), 1e-9) << backend;
  }
}

TEST(Equivalence, HoldsWhenTheLastBatchIsUneven) {
  const TrainStore store;
  const std::string flags =
      "--model lenet5 --precision f64 --train-samples 50 --global-batch 16 --epochs 2 --validate-every 0 "
      "--threads 1 ";
  const TrainRun alone = store.train(flags + "--workers 1");
  const TrainRun together =
      store.train(flags + "--workers 3 --check-every 1");  // the last step has 2 samples for 3 workers
  ASSERT_EQ(together.exit_code, 0) << together.err;
  EXPECT_LE(largest_difference(alone.losses(), together.losses()), 1e-9);
}

TEST(Equivalence, HoldsWithAccumulatedGradientsAndWithoutOverlap) {
  const TrainStore store;
  const Case& lenet = cases().front();
  const TrainRun alone = store.train(flags_for(lenet, 1));
  for (const std::string more :
       {"--accumulate 3", "--overlap off", "--overlap on --bucket-bytes 64K --first-bucket-bytes 4K"}) {
    const TrainRun together = store.train(flags_for(lenet, 2, more));
    ASSERT_EQ(together.exit_code, 0) << together.err;
    EXPECT_LE(largest_difference(alone.losses(), together.losses()), 1e-9) << more;
  }
}

TEST(Determinism, TheSameSeedGivesTheSameBitsTwiceOverShm) {
  const TrainStore store;
  const std::string weights = (store.path() / "weights").string();
  for (const std::string one : {"1", "2"}) {
    const TrainRun run = store.train(flags_for(cases().at(4), 2, "--export-weights " + weights + one));
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  EXPECT_EQ(std::system(("cmp '" + weights + "1' '" + weights + "2'").c_str()), 0);
}

}  // namespace
}  // namespace lockstep::testing
