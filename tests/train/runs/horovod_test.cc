// horovod computes what ddp does, and sends what it says it sends.
#include <gtest/gtest.h>

#include "tests/support/ranks.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

struct Model {
  std::string name;
  std::string flags;
};

const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"lenet5", "--model lenet5"},
      {"vit", "--model vit"},
      {"narrow_resnet18_cifar",
       "--model resnet18-cifar --model-options width=8 --data digits --train-samples 240 --image-size 16 "
       "--augment crop-flip --buffers sync"},
  };
  return all;
}

std::string flags_for(const Model& model, int workers, const std::string& more) {
  return model.flags +
         " --precision f64 --global-batch 24 --steps 20 --learning-rate 0.02 --validate-every 0 "
         "--check-every 1 --threads 1 --workers " +
         std::to_string(workers) + " " + more;
}

class HorovodEquivalence : public ::testing::TestWithParam<std::size_t> {};

// Every model with every number of workers; all backends for each, or the one that its turn brings: then
// every two of model, workers and backend still meet.
TEST_P(HorovodEquivalence, FollowsTheLossCurveOfDdp) {
  const TrainStore store;
  const Model& model = models().at(GetParam());
  const TrainRun ddp = store.train(flags_for(model, 2, "--strategy ddp"));
  ASSERT_EQ(ddp.exit_code, 0) << ddp.err;
  const std::vector<std::string> backends = {"shm", "gloo"};
  for (std::size_t workers = 1; workers <= 4; ++workers) {
    for (std::size_t backend = 0; backend < backends.size(); ++backend) {
      if (!full_matrix() && backend != (GetParam() + workers) % 2) continue;
      const TrainRun run = store.train(
          flags_for(model, static_cast<int>(workers), "--strategy horovod --backend " + backends[backend]));
      ASSERT_EQ(run.exit_code, 0) << run.err;
      EXPECT_LE(largest_difference(ddp.losses(), run.losses()), 1e-9)
          << workers << " workers over " << backends[backend];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, HorovodEquivalence, ::testing::Values(0, 1, 2),
                         [](const auto& index) { return models().at(index.param).name; });

TEST(Horovod, FollowsDdpOverMpiAndWithEveryOptionOfItsOwn) {
  const TrainStore store;
  const Model& lenet = models().front();
  const TrainRun ddp = store.train(flags_for(lenet, 2, "--strategy ddp"));
  ASSERT_EQ(ddp.exit_code, 0) << ddp.err;
  for (const std::string more : {"--backend mpi", "--cache-capacity 0", "--cache-capacity 3 --cycle-time 5ms",
                                 "--fusion-bytes 2K", "--overlap off", "--overlap on --accumulate 3"}) {
    const TrainRun run = store.train(flags_for(lenet, 2, "--strategy horovod " + more));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_LE(largest_difference(ddp.losses(), run.losses()), 1e-9) << more;
  }
}

TEST(Horovod, FollowsDdpWhenTheLastBatchIsUneven) {
  const TrainStore store;
  const std::string flags =
      "--model lenet5 --precision f64 --train-samples 50 --val-samples 20 --global-batch 16 --epochs 2 "
      "--threads 1 --workers 3 --check-every 1 --strategy ";
  const TrainRun ddp = store.train(flags + "ddp");
  const TrainRun run = store.train(flags + "horovod");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LE(largest_difference(ddp.losses(), run.losses()), 1e-9);
}

TEST(Horovod, WithoutOverlapTwoRunsOverGlooAreBitEqual) {
  const TrainStore store;
  const std::string flags =
      "--model lenet5 --data digits --train-samples 240 --val-samples 20 --batch-size 8 --epochs 3 --threads "
      "1 "
      "--workers 3 --strategy horovod --overlap off --backend gloo";
  const TrainRun first = store.train(flags);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  for (int again = 0; again < 3; ++again) EXPECT_EQ(store.train(flags).losses(), first.losses());
}

TEST(Horovod, IsResumedBitEqual) {
  const TrainStore store;
  const std::string weights = (store.path() / "weights").string();
  const std::string flags =
      "--model lenet5 --data digits --train-samples 64 --val-samples 20 --batch-size 8 --threads 1 "
      "--workers 2 --strategy horovod --checkpoint-epochs 1 ";
  ASSERT_EQ(store.train(flags + "--epochs 3 --export-weights " + weights + "1").exit_code, 0);
  const TrainRun half = store.train(flags + "--epochs 2");
  ASSERT_EQ(half.exit_code, 0) << half.err;
  const TrainRun rest = store.train(flags + "--epochs 3 --export-weights " + weights + "2 --resume " +
                                    (half.directory / "checkpoints").string());
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(std::system(("cmp '" + weights + "1' '" + weights + "2'").c_str()), 0);
}

struct LedgerCase {
  std::string flags;
  std::uint64_t tensors, cached;
};

// What the catalogue's formula says, from the run's own counts, and what the counts must be.
void expect_documented_control(const TrainRun& run, const LedgerCase& one, std::uint64_t workers,
                               std::uint64_t steps) {
  const nlohmann::json& control = run.record.at("comm").at("control");
  const auto count = [&](const char* name) { return control.at(name).get<std::uint64_t>(); };
  EXPECT_EQ(count("bytes_per_cycle"), 8 * workers * (1 + (one.cached + 63) / 64));
  EXPECT_EQ(count("answers"), one.cached + (one.tensors - one.cached) * steps);
  EXPECT_EQ(count("requests"), workers * count("answers"));
  EXPECT_GE(count("cycles"), steps);
  const std::uint64_t shapes = 8 * workers;  // once: that all ranks have the same model
  EXPECT_EQ(run.payload_bytes("control"), shapes + count("cycles") * count("bytes_per_cycle") +
                                              16 * (count("requests") + count("negotiations")) +
                                              4 * count("answers"));
}

TEST(HorovodLedger, IsTheDocumentedFormulaToTheByte) {
  const TrainStore store;
  const std::string resnet =
      "--model resnet18-cifar --model-options width=8 --data digits --train-samples 240 --image-size 16 ";
  for (const LedgerCase& one :
       {LedgerCase{"--model lenet5", 10, 10}, LedgerCase{"--model vit", 69, 69},
        LedgerCase{"--model lenet5 --cache-capacity 0", 10, 0},
        LedgerCase{"--model lenet5 --cache-capacity 4", 10, 4}, LedgerCase{resnet, 62, 62}}) {
    for (const std::uint64_t workers : {2u, 3u}) {
      const std::string flags = one.flags + " --threads 1 --steps 7 --global-batch 12 --validate-every 0 " +
                                "--check-every 0 --overlap on --workers " + std::to_string(workers);
      const TrainRun run = store.train(flags + " --strategy horovod");
      ASSERT_EQ(run.exit_code, 0) << run.err;
      expect_documented_control(run, one, workers, 7);
      const TrainRun ddp = store.train(flags + " --strategy ddp");
      for (const std::string purpose : {"gradient", "buffer", "metric", "parameter"})
        EXPECT_EQ(run.payload_bytes(purpose), ddp.payload_bytes(purpose)) << purpose << " of " << flags;
    }
  }
}

}  // namespace
}  // namespace lockstep::testing
