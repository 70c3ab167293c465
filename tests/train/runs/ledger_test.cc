// The bytes of an epoch, from recorded messages, against the published table A5 and its formulas.
#include <gtest/gtest.h>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

struct Published {
  int batch;
  std::uint64_t forward, backward, gradients;
};

std::string flags(int batch, const std::string& more = "") {
  return "--model vit --workers 2 --threads 1 --epochs 1 --validate-every 0 --learning-rate 0.01 "
         "--global-batch " +
         std::to_string(batch) + " " + more;
}

// Fashion-MNIST has MNIST's shape and count; where MNIST itself is at hand it gives the same bytes.
TEST(LedgerOfAnEpoch, IsThePublishedTable) {
  const TrainStore store;
  for (const Published& row :
       {Published{32, 188160000, 7500, 39915000}, Published{64, 188160000, 3752, 19968144},
        Published{128, 188160000, 1876, 9984072}}) {
    const TrainRun run = store.train(flags(row.batch), 300);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.payload_bytes("input"), row.forward) << row.batch;
    EXPECT_EQ(run.payload_bytes("metric", "all_reduce"), row.backward) << row.batch;
    EXPECT_EQ(run.payload_bytes("gradient"), row.gradients) << row.batch;
    // Each of two ranks moves as much as the payload: 2 (N - 1) / N of it.
    EXPECT_EQ(run.wire_bytes("gradient"), 2 * row.gradients) << row.batch;
  }
}

// Parameters of the small vit by its description: patches of 16 pixels, a class token, blocks of heads with
// their own maps, an MLP four times as wide, a head for 10 classes.
std::uint64_t vit_parameters(std::uint64_t width, std::uint64_t depth, std::uint64_t heads) {
  const std::uint64_t head_width = width / heads;
  const std::uint64_t attention = heads * 3 * (head_width * head_width + head_width);
  const std::uint64_t mlp = width * 4 * width + 4 * width + 4 * width * width + width;
  const std::uint64_t norms = 2 * 2 * width;
  return 16 * width + width + width + depth * (attention + mlp + norms) + 10 * width + 10;
}

TEST(LedgerOfAnEpoch, IsWhatTheFormulasSayForOddSizes) {
  ASSERT_EQ(vit_parameters(16, 2, 4), 5322u);
  const TrainStore store;
  const TrainRun run = store.train(flags(48, "--train-samples 59999 --model-options width=8"), 300);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::uint64_t steps = (59999 + 47) / 48;
  EXPECT_EQ(run.payload_bytes("input"), 59999u * 784 * 4);
  EXPECT_EQ(run.payload_bytes("metric", "all_reduce"), steps * 4);
  EXPECT_EQ(run.payload_bytes("gradient"), steps * vit_parameters(8, 2, 4) * 4);
}

}  // namespace
}  // namespace lockstep::testing
