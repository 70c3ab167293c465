#include "lockstep/parallel/dp/dp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/parallel/single.h"
#include "tests/parallel/dp/dp_fixture.h"

namespace lockstep::parallel {
namespace {

using ::testing::HasSubstr;

struct Result {
  double loss;
  std::vector<at::Tensor> gradients;
};

Result result_of(Strategy& strategy, const StepPart& part) {
  const PartResult done = strategy.train_part(part);
  strategy.finish_gradients();
  Result result{done.loss.item<double>(), {}};
  for (const Updatable& updatable : strategy.updatables())
    result.gradients.push_back(updatable.gradient.clone());
  return result;
}

Result of_one_worker(const StepPart& part) {
  models::Model model = small_model();
  const record::RunSpec spec;
  const auto timer = measure::host_step_timer();
  const auto compute = host_compute_queue();
  measure::MemoryAccount memory;
  Single single({spec, model, models::LossKind::cross_entropy, nullptr, *compute, *timer, memory});
  return result_of(single, part);
}

std::vector<record::RunSpec> every_combination_of_switches() {
  std::vector<record::RunSpec> specs;
  for (int bits = 0; bits < 16; ++bits) {
    record::RunSpec spec;
    spec.coalesced_broadcast = (bits & 1) != 0;
    spec.threaded_scatter = (bits & 2) != 0;
    spec.coalesced_reduction = (bits & 4) != 0;
    spec.keep_originals = (bits & 8) != 0;
    spec.piece_bytes.count = 64 << 10;
    specs.push_back(spec);
  }
  return specs;
}

TEST(Dp, HasTheGradientsOfOneWorkerWithAnyReplicasAndSwitches) {
  for (const std::int64_t rows : {2, 9}) {
    const StepPart part = part_of(rows);
    const Result alone = of_one_worker(part);
    for (const int replicas : {1, 3}) {
      for (const record::RunSpec& spec : every_combination_of_switches()) {
        DpFixture fixture(replicas, spec);
        Dp dp(fixture.surroundings());
        for (int step = 0; step < 2; ++step) {  // the second finds the gradients of the first
          const Result together = result_of(dp, part);
          EXPECT_NEAR(alone.loss, together.loss, 1e-12);
          for (std::size_t i = 0; i < alone.gradients.size(); ++i)
            EXPECT_TRUE(at::allclose(alone.gradients[i], together.gradients[i], 1e-9, 1e-12)) << i;
        }
      }
    }
  }
}

TEST(Dp, FollowsTheOriginalsWhenTheyAreUpdated) {
  DpFixture fixture(2);
  Dp dp(fixture.surroundings());
  const StepPart part = part_of(6);
  const double before = result_of(dp, part).loss;
  {
    const at::NoGradGuard no_grad;
    for (const Updatable& updatable : dp.updatables())
      updatable.value.detach().sub_(updatable.gradient, 0.01);
  }
  EXPECT_LT(result_of(dp, part).loss, before);
}

TEST(Dp, EvaluatesAsTheModelItself) {
  DpFixture fixture(3);
  Dp dp(fixture.surroundings());
  const StepPart part = part_of(7);
  models::PassKey key;
  key.training = false;
  const at::NoGradGuard no_grad;
  models::Runner runner;
  const at::Tensor expected = runner.forward(fixture.model.root(), part.inputs, key);
  EXPECT_TRUE(at::allclose(dp.evaluate(part.inputs, key), expected, 1e-12, 1e-12));
}

TEST(Dp, SaysWhatEachReplicaDid) {
  DpFixture fixture(3);
  Dp dp(fixture.surroundings());
  (void)result_of(dp, part_of(7));
  const std::vector<ReplicaStep> steps = dp.replica_steps();
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].samples, 3);
  EXPECT_EQ(steps[2].samples, 2);
  for (const ReplicaStep& step : steps) {
    for (const char* primitive : {"replicate", "scatter", "apply", "gather", "reduce"})
      EXPECT_GT(step.primitive_seconds.at(primitive), 0.0) << primitive;
  }
}

// The others wait for it in the middle of a collective: they end because of it, and it alone is named.
TEST(Dp, AFailureInOneReplicaEndsAllWithItsError) {
  class Failing : public models::UnitHooks {
   public:
    bool wants(const models::Unit& unit) const override { return unit.path().empty(); }
    void before_forward(models::Unit&, const at::Tensor&) override { throw std::runtime_error("it broke"); }
  } failing;
  DpFixture fixture(3);
  fixture.source.build = [&](int replica) {
    models::Model model = small_model();
    if (replica == 2) models::Runner::attach(model.root(), failing);
    return model;
  };
  Dp dp(fixture.surroundings());
  try {
    (void)dp.train_part(part_of(9));
    FAIL() << "nothing was thrown";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("replica 2: it broke"));
  }
  EXPECT_EQ(fixture.failed, 2);
}

TEST(Dp, AReplicaThatRunsOutOfMemoryIsNamed) {
  measure::install_counting_allocator(std::make_shared<measure::MemoryAccount>());
  DpFixture fixture(3);
  constexpr std::uint64_t kForItsModelAndGradients = 1200 << 10;
  fixture.source.outfits[1].memory = std::make_shared<measure::MemoryAccount>(kForItsModelAndGradients);
  Dp dp(fixture.surroundings());
  try {
    (void)dp.train_part(part_of(120));
    FAIL() << "nothing was thrown";
  } catch (const measure::OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("replica 1: out of memory: "));
    EXPECT_EQ(error.cap_bytes(), kForItsModelAndGradients);
  }
  EXPECT_EQ(fixture.failed, 1);
}

}  // namespace
}  // namespace lockstep::parallel
