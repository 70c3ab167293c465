// Two workers as two threads, each with its part of the batch, against one worker with the whole.
#include "lockstep/models/layers/sync_batch_norm.h"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <thread>

#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

constexpr int kWorld = 2;

struct Meeting {
  std::barrier<> barrier{kWorld};
  std::array<at::Tensor, kWorld> parts;
};

class ThreadExchange : public StatisticsExchange {
 public:
  ThreadExchange(Meeting& meeting, int rank) : meeting_(meeting), rank_(static_cast<std::size_t>(rank)) {}
  at::Tensor gather(const at::Tensor& local) override {
    meeting_.parts[rank_] = local;
    meeting_.barrier.arrive_and_wait();
    const at::Tensor all = at::stack({meeting_.parts[0], meeting_.parts[1]});
    meeting_.barrier.arrive_and_wait();
    return all;
  }

 private:
  Meeting& meeting_;
  std::size_t rank_;
};

const ModelOptions kNarrow{.image_height = 8, .image_width = 8, .width = 4};

struct Worker {
  ThreadExchange exchange;
  SyncLayers layers;
  Model model;
  at::Tensor output;

  Worker(Meeting& meeting, int rank)
      : exchange(meeting, rank),
        layers({.dtype = at::kDouble}, exchange),
        model(build_model("resnet18-cifar", kNarrow, layers, 1)) {}

  void step(const at::Tensor& rows) {
    Runner runner;
    output = runner.forward(model.root(), rows, {});
    runner.backward(output.square().sum());
  }
};

void run_both(Worker& one, Worker& other, const at::Tensor& batch, std::int64_t cut) {
  std::thread second([&] { other.step(batch.slice(0, cut)); });
  one.step(batch.slice(0, 0, cut));
  second.join();
}

double difference(const at::Tensor& one, const at::Tensor& other) {
  return (one - other).abs().max().item<double>();
}

TEST(SyncBatchNorm, UnevenWorkersNormaliseAsOneDoesWithTheWholeBatch) {
  const Model whole = make_model("resnet18-cifar", kNarrow, at::kDouble);
  const at::Tensor batch = make_batch(whole, 5, at::kDouble);
  Runner runner;
  const at::Tensor output = runner.forward(whole.root(), batch, {});
  runner.backward(output.square().sum());

  Meeting meeting;
  Worker one(meeting, 0), other(meeting, 1);
  run_both(one, other, batch, 3);

  EXPECT_LT(difference(at::cat({one.output, other.output}), output), 1e-10);
  const auto expected = whole.parameters(), first = one.model.parameters(), second = other.model.parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const at::Tensor goal = expected[i].tensor.grad();
    const double bound = 1e-10 * (1.0 + goal.abs().max().item<double>());
    EXPECT_LT(difference(first[i].tensor.grad() + second[i].tensor.grad(), goal), bound) << expected[i].name;
  }
  for (std::size_t i = 0; i < whole.buffers().size(); ++i) {
    const at::Tensor goal = whole.buffers()[i].tensor.to(at::kDouble);
    EXPECT_LT(difference(one.model.buffers()[i].tensor.to(at::kDouble), goal), 1e-10)
        << whole.buffers()[i].name;
    EXPECT_TRUE(one.model.buffers()[i].tensor.equal(other.model.buffers()[i].tensor))
        << whole.buffers()[i].name;
  }
}

TEST(SyncBatchNorm, AWorkerWithoutSamplesTakesPart) {
  Meeting meeting;
  Worker one(meeting, 0), other(meeting, 1);
  run_both(one, other, make_batch(one.model, 4, at::kDouble), 4);
  EXPECT_TRUE(one.output.isfinite().all().item<bool>());
  EXPECT_EQ(other.output.sizes(), at::IntArrayRef({0, 10}));
  EXPECT_TRUE(one.model.buffers()[0].tensor.equal(other.model.buffers()[0].tensor));
}

}  // namespace
}  // namespace lockstep::models
