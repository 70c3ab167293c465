// Workers on slices of a GPU compute what workers on cores do, step by step, and send the same bytes: every
// strategy over every backend, pairwise with 1, 2 and 4 slices. dp's replicas are one process and have no
// slices.
#include <gtest/gtest.h>

#include <map>

#include "tests/train/runs/gpu_runs.h"

namespace lockstep::testing {
namespace {

constexpr double kTolerance = 1e-9;
constexpr std::uint64_t kParameterBytes = 61'706 * sizeof(double);
// Of lenet5's tensors; libtorch's blocks are multiples of 512 bytes.
constexpr std::uint64_t kParameterElements[] = {150, 6, 2400, 16, 48'000, 120, 10'080, 84, 840, 10};
std::uint64_t bytes_of_parameter_blocks() {
  std::uint64_t bytes = 0;
  for (const std::uint64_t elements : kParameterElements)
    bytes += (elements * sizeof(double) + 511) / 512 * 512;
  return bytes;
}

constexpr const char* kLenet =
    "--model lenet5 --data digits --train-samples 240 --precision f64 --global-batch 24 --steps 20 "
    "--learning-rate 0.02 --momentum 0.9 --validate-every 0 --check-every 10 --threads 1 ";

// What a run came to.
struct Outcome {
  std::vector<double> losses;
  std::uint64_t gradients = 0, parameters = 0;  // payload bytes
};

Outcome outcome_of(const TrainRun& run) {
  return {run.losses(), run.payload_bytes("gradient"), run.payload_bytes("parameter")};
}

std::string way(const std::string& strategy, int workers) {
  const std::string own = strategy == "localsgd" ? " --local-steps 4" : "";
  return "--strategy " + strategy + own + " --workers " + std::to_string(workers);
}

class GpuEquivalence : public GpuRuns {
 protected:
  // Once for all tests.
  const Outcome& on_cores(const std::string& way) const {
    static std::map<std::string, Outcome> known;
    if (!known.contains(way)) {
      const TrainRun run = store_.train(kLenet + way + " --device cpu");
      EXPECT_EQ(run.exit_code, 0) << run.err;
      known[way] = run.exit_code == 0 ? outcome_of(run) : Outcome{};
    }
    return known[way];
  }

  void expect_the_same(const TrainRun& run, const std::string& way) const {
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Outcome& expected = on_cores(way);
    const Outcome found = outcome_of(run);
    ASSERT_EQ(expected.losses.size(), 20u);
    EXPECT_NE(expected.losses.front(), expected.losses.back());
    EXPECT_LE(largest_difference(expected.losses, found.losses), kTolerance);
    EXPECT_EQ(found.gradients, expected.gradients);
    EXPECT_EQ(found.parameters, expected.parameters);
    EXPECT_EQ(run.record.at("spec").at("device"), "cuda");
  }

  TrainRun on_slices(const std::string& strategy, int slices, const std::string& backend) const {
    return store_.train(kLenet + way(strategy, slices) + kSlice + "--backend " + backend);
  }

  void expect_the_same_on(const std::string& strategy, int slices, const std::string& backend) const {
    SCOPED_TRACE(strategy + " over " + backend + ", " + std::to_string(slices) + " slices");
    expect_the_same(on_slices(strategy, slices, backend), way(strategy, slices));
  }
};

TEST_F(GpuEquivalence, OfSingle) {
  expect_the_same(store_.train(kLenet + way("single", 1) + kSlice), way("single", 1));
}

TEST_F(GpuEquivalence, OfDdp) {
  expect_the_same_on("ddp", 2, "nccl");
  expect_the_same_on("ddp", 4, "p2p");
}

// Without one the same, and with one nothing that speaks against it.
TEST_F(GpuEquivalence, OfDdpWithAndWithoutAGraph) {
  for (const char* backend : {"nccl", "p2p"}) {
    SCOPED_TRACE(backend);
    const std::string flags = kLenet + way("ddp", 2) + kSlice + "--backend " + backend;
    expect_the_same(store_.train(flags + " --graph off"), way("ddp", 2));
    const TrainRun recorded = store_.train(flags + " --graph on --overlap on");
    expect_the_same(recorded, way("ddp", 2));
    EXPECT_EQ(recorded.record.at("warnings").dump().find("CUDA graph"), std::string::npos)
        << recorded.record.at("warnings");
  }
}

// NCCL looks for threads that race to put operations on the device, where it is to order them.
TEST_F(GpuEquivalence, OfZero3) {
  const std::string flags = kLenet + way("zero3", 4) + kSlice + "--backend nccl";
  expect_the_same(store_.train(flags, 120, "NCCL_LAUNCH_ORDER_IMPLICIT=1 NCCL_LAUNCH_RACE_FATAL=1"),
                  way("zero3", 4));
  expect_the_same_on("zero3", 4, "nccl");
  expect_the_same_on("zero3", 2, "p2p");
}

TEST_F(GpuEquivalence, OfHorovod) {
  expect_the_same_on("horovod", 4, "nccl");
  expect_the_same_on("horovod", 2, "p2p");
}

TEST_F(GpuEquivalence, OfDp) {
  for (const int replicas : {2, 4}) {
    SCOPED_TRACE(std::to_string(replicas) + " replicas");
    expect_the_same(store_.train(kLenet + way("dp", replicas) + " --device cuda --backend local"),
                    way("dp", replicas));
  }
}

TEST_F(GpuEquivalence, OfZero1) {
  expect_the_same_on("zero1", 2, "nccl");
  expect_the_same_on("zero1", 1, "p2p");
}

TEST_F(GpuEquivalence, OfLocalSgd) {
  expect_the_same_on("localsgd", 1, "nccl");
  expect_the_same_on("localsgd", 4, "p2p");
}

TEST_F(GpuEquivalence, OverTheHostsMemory) {
  expect_the_same_on("localsgd", 2, "shm");
  expect_the_same_on("zero1", 4, "shm");
}

TEST_F(GpuEquivalence, OverTheHostsMemoryOfOneSlice) {
  for (const char* strategy : {"ddp", "zero3", "horovod"}) expect_the_same_on(strategy, 1, "shm");
}

// pip's libtorch contains a gloo of its own, which must not be called.
TEST_F(GpuEquivalence, OverGloo) {
  for (const auto& [strategy, slices] :
       {std::pair("ddp", 2), std::pair("horovod", 4), std::pair("localsgd", 2), std::pair("zero1", 4),
        std::pair("zero3", 1)})
    expect_the_same_on(strategy, slices, "gloo");
}

// The arenas of two ranks that map each other's memory are the largest part here.
TEST_F(GpuEquivalence, CountsTheGpusMemoryByUse) {
  const TrainRun run = on_slices("ddp", 2, "p2p");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json& memory = run.record.at("memory");
  const nlohmann::json& by_use = memory.at("by_use");
  std::uint64_t sum = 0;
  for (const auto& [use, bytes] : by_use.items()) sum += bytes.get<std::uint64_t>();
  EXPECT_EQ(sum, memory.at("peak_bytes"));
  EXPECT_EQ(by_use.at("parameters"), bytes_of_parameter_blocks());
  EXPECT_EQ(by_use.at("optimizer"), bytes_of_parameter_blocks());
  EXPECT_EQ(by_use.at("buckets"), kParameterBytes);
  EXPECT_GT(by_use.at("activations"), 12u * 6 * 28 * 28 * sizeof(double));  // what the first layer makes
  EXPECT_GE(by_use.at("communication"), 18u << 20);
}

TEST_F(GpuEquivalence, OfARunThatIsNotMeasured) {
  const TrainRun run = store_.train(kLenet + way("single", 1) + kSlice + "--no-measure");
  expect_the_same(run, way("single", 1));
  EXPECT_FALSE(run.record.contains("memory"));
}

}  // namespace
}  // namespace lockstep::testing
