// Every rank gives its operations in one order, over all communicators that a device would serve, whatever
// the timing of its threads: each strategy trains on threads of this process, whose operations and layers
// sleep for random times, and what the ranks have started is compared. The communicators say that they are a
// device's, so that what is decided for devices is what is tested.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <random>
#include <thread>

#include "lockstep/comm/wrappers/forwarding.h"
#include "lockstep/models/layers/sync_batch_norm.h"
#include "lockstep/models/registry.h"
#include "lockstep/parallel/statistics_channel.h"
#include "lockstep/parallel/strategy.h"
#include "tests/support/replicas.h"

namespace lockstep::parallel {
namespace {

constexpr int kWorld = 3, kTrainedSteps = 6;

// Sleeps now and then; from any thread.
class Jitter {
 public:
  explicit Jitter(unsigned seed) : source_(seed) {}
  void operator()() {
    std::chrono::microseconds time{};
    {
      const std::lock_guard lock(mutex_);
      if (std::uniform_int_distribution(0, 3)(source_) > 0) return;
      time = std::chrono::microseconds(std::uniform_int_distribution(0, 1500)(source_));
    }
    std::this_thread::sleep_for(time);
  }

 private:
  std::mutex mutex_;
  std::minstd_rand source_;
};

// What a rank has started, on all its communicators.
struct Diary {
  std::mutex mutex;
  std::vector<std::string> lines;
  int channels = 0;
};

class DiaryCommunicator : public comm::ForwardingCommunicator {
 public:
  DiaryCommunicator(std::unique_ptr<comm::Communicator> inner, Diary& diary, Jitter& jitter)
      : ForwardingCommunicator(std::move(inner)),
        diary_(diary),
        jitter_(jitter),
        channel_(diary.channels++) {}

  std::string_view backend() const override { return "nccl"; }
  measure::Movement run(const comm::Operation& operation) override {
    note(operation);
    const measure::Movement movement = inner().run(operation);
    jitter_();
    return movement;
  }
  comm::Work start(const comm::Operation& operation, comm::Completion on_done) override {
    note(operation);
    return inner().start(operation, std::move(on_done));
  }

 protected:
  std::unique_ptr<comm::Communicator> wrap(std::unique_ptr<comm::Communicator> made) override {
    return std::make_unique<DiaryCommunicator>(std::move(made), diary_, jitter_);
  }

 private:
  void note(const comm::Operation& operation) {
    jitter_();
    const std::lock_guard lock(diary_.mutex);
    diary_.lines.push_back("channel " + std::to_string(channel_) + ": " + comm::describe(operation) + ", " +
                           std::string(measure::name_of(operation.purpose)));
  }

  Diary& diary_;
  Jitter& jitter_;
  const int channel_;
};

class JitteringUnits : public models::UnitHooks {
 public:
  explicit JitteringUnits(Jitter& jitter) : jitter_(jitter) {}
  void before_forward(models::Unit&, const at::Tensor&) override { jitter_(); }
  void before_backward(models::Unit&) override { jitter_(); }
  void after_backward(models::Unit&) override { jitter_(); }

 private:
  Jitter& jitter_;
};

models::Model narrow_model(models::LayerFactory& layers) {
  models::ModelOptions options;
  options.classes = 10;
  options.channels = 3;
  options.image_height = options.image_width = 16;
  options.width = 8;
  return models::build_model("resnet18-cifar", options, layers, 1);
}

record::RunSpec spec_of(const std::string& strategy, const std::string& buffers) {
  record::RunSpec spec;
  spec.strategy = strategy;
  spec.buffers = buffers;
  spec.workers = kWorld;
  spec.overlap = "auto";
  spec.first_bucket_bytes.count = 4 << 10;
  spec.bucket_bytes.count = 16 << 10;
  spec.fusion_bytes.count = 16 << 10;
  spec.local_steps = 2;
  spec.check_every = 2;
  return spec;
}

StepPart part_of(int rank, int step) {
  StepPart part;
  at::Generator source = at::detail::createCPUGenerator(static_cast<std::uint64_t>(100 * step + rank));
  part.inputs = at::randn({2, 3, 16, 16}, source);
  part.targets = at::randint(0, 10, {2}, source, at::TensorOptions().dtype(at::kLong));
  part.divisor = 2 * kWorld;
  part.own_samples = 2;
  part.key.step = static_cast<std::uint64_t>(step);
  return part;
}

// A run as the trainer drives it, with the reduction of the loss after every step.
void train(const record::RunSpec& spec, comm::Communicator& plain, Diary& diary, Jitter& jitter) {
  const int rank = plain.group().rank;
  DiaryCommunicator communicator(plain.duplicate(), diary, jitter);
  const auto timer = measure::host_step_timer();
  const auto compute = host_compute_queue();
  measure::MemoryAccount memory;
  StatisticsChannel statistics(communicator, *timer);
  const std::unique_ptr<models::LayerFactory> layers =
      spec.buffers == "sync" ? std::make_unique<models::SyncLayers>(models::LayerOptions{}, statistics)
                             : models::standard_layers({});
  models::Model model = narrow_model(*layers);
  JitteringUnits units(jitter);
  models::Runner::attach(model.root(), units);
  const auto strategy = make_strategy({spec,
                                       model,
                                       models::LossKind::cross_entropy,
                                       &communicator,
                                       *compute,
                                       *timer,
                                       memory,
                                       nullptr,
                                       {},
                                       nullptr,
                                       [&](const std::string&) { return plain.duplicate(); }});
  strategy->begin();
  comm::Allocation loss = communicator.allocate(sizeof(float));
  for (int step = 0; step < kTrainedSteps; ++step) {
    (void)strategy->train_part(part_of(rank, step));
    strategy->finish_gradients();
    strategy->after_update();
    communicator
        .start(
            comm::all_reduce(loss.buffer(comm::ElementType::f32), comm::ReduceOp::sum, comm::Purpose::metric),
            {})
        .wait();
    if (step % 3 == 2) strategy->settle();
  }
  strategy->end();
  strategy->settle();
}

void expect_one_order(const std::string& strategy, const std::string& buffers) {
  SCOPED_TRACE(strategy + " with buffers " + buffers);
  const record::RunSpec spec = spec_of(strategy, buffers);
  for (unsigned seed = 1; seed <= 2; ++seed) {
    std::array<Diary, kWorld> diaries;
    lockstep::testing::expect_replicas_succeed(kWorld, [&](comm::Communicator& communicator) {
      const auto rank = static_cast<unsigned>(communicator.group().rank);
      Jitter jitter(seed * kWorld + rank);
      train(spec, communicator, diaries[rank], jitter);
    });
    EXPECT_GT(diaries[0].lines.size(), static_cast<std::size_t>(kTrainedSteps));
    for (int rank = 1; rank < kWorld; ++rank)
      EXPECT_EQ(diaries[static_cast<std::size_t>(rank)].lines, diaries[0].lines) << "rank " << rank;
  }
}

TEST(CollectiveOrder, OfDdpIsTheSameOnAllRanks) {
  expect_one_order("ddp", "broadcast");
}
TEST(CollectiveOrder, OfDdpWithSynchronisedBatchNormsIsTheSameOnAllRanks) {
  expect_one_order("ddp", "sync");
}
TEST(CollectiveOrder, OfHorovodIsTheSameOnAllRanks) {
  expect_one_order("horovod", "broadcast");
}
TEST(CollectiveOrder, OfHorovodWithSynchronisedBatchNormsIsTheSameOnAllRanks) {
  expect_one_order("horovod", "sync");
}
TEST(CollectiveOrder, OfZero1IsTheSameOnAllRanks) {
  expect_one_order("zero1", "broadcast");
  expect_one_order("zero1", "sync");
}
TEST(CollectiveOrder, OfZero3IsTheSameOnAllRanks) {
  expect_one_order("zero3", "broadcast");
  expect_one_order("zero3", "sync");
}
TEST(CollectiveOrder, OfLocalSgdIsTheSameOnAllRanks) {
  expect_one_order("localsgd", "average");
}

}  // namespace
}  // namespace lockstep::parallel
