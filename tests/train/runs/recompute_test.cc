// Activations that are dropped and computed again change nothing but memory: dropout masks, statistics of
// batch norms and losses keep their bits, with every strategy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;

const std::string kCommon =
    " --data digits --train-samples 240 --global-batch 24 --steps 8 --validate-every 0 --threads 1 "
    "--learning-rate 0.005 ";

// Dropout (squeezenet1_0), batch norm (the ResNet) and attention.
const std::vector<std::string> kModels = {
    "--model squeezenet1_0 --image-size 32",
    "--model resnet18-cifar --model-options width=8 --image-size 16 --augment crop-flip",
    "--model vit",
};

std::uint64_t activations(const TrainRun& run) {
  return run.record.at("memory").at("by_use").at("activations").get<std::uint64_t>();
}

void expect_same_bits(const TrainStore& store, const std::string& flags) {
  const TrainRun kept = store.train(flags + kCommon);
  const TrainRun again = store.train(flags + kCommon + "--recompute");
  ASSERT_EQ(kept.exit_code, 0) << kept.err;
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(kept.losses(), again.losses()) << flags;
  EXPECT_LT(activations(again), activations(kept)) << flags;
}

TEST(Recompute, KeepsTheBitsOfTheLossCurveOfOneWorker) {
  const TrainStore store;
  for (const std::string& model : kModels) expect_same_bits(store, model + " --workers 1");
}

TEST(Recompute, KeepsTheBitsWithEveryStrategyThatHasIt) {
  const TrainStore store;
  for (const std::string strategy : {"ddp", "zero1", "zero3"})
    expect_same_bits(store, kModels[1] + " --workers 2 --strategy " + strategy);
}

TEST(Recompute, IsRefusedByNameWhereItCannotWork) {
  const TrainStore store;
  const TrainRun lenet = store.train("--model lenet5 --recompute" + kCommon);
  EXPECT_EQ(lenet.exit_code, 3);
  EXPECT_THAT(lenet.err, HasSubstr("model lenet5 has none. The nearest that works: accumulate 2"));
  for (const std::string flag : {"--recompute", "--strategy zero3 --workers 2"}) {
    const TrainRun script = store.train("--model some/file.pt " + flag + kCommon);
    EXPECT_EQ(script.exit_code, 3);
    EXPECT_THAT(script.err, HasSubstr("the inside of a TorchScript file cannot be seen"));
  }
}

}  // namespace
}  // namespace lockstep::testing
