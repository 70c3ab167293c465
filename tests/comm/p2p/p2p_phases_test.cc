// Operations in phases on a device that runs one kernel, or one block, at a time: a model of ranks that share
// a GPU, where nothing says that two kernels ever run beside each other. In whatever order a seed picks what
// may run next, all operations end, with the right results; and every wait ends when it is told to.
#include "tests/comm/p2p/host_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <random>

namespace lockstep::comm::p2p {
namespace {

// A kernel on a stream: all of it constant, as a recording keeps it.
struct Launch {
  bool looks;  // the small one in front of a phase's
  bool waits;  // for what the phase waits for
  Operation operation;
  Task task;
  Phase phase;
  std::uint32_t blocks;
};
using Recorded = std::vector<Launch>;

enum class Turns { of_kernels, of_blocks };

class ModelRank {
 public:
  ModelRank(const SharedArenas& arenas, int rank, int world)
      : host_(arenas, Group{rank, world, rank, world, "model"}, Waiting::memory, kMostBlocksHere),
        own_(&arenas.ranks()[rank]) {}

  Recorded record(const Operation& operation) {
    Recorded made;
    for (const Phase& phase : host_.phases_for(operation)) {
      const Task task = host_.task_for(operation);
      const std::uint32_t blocks = phase.step == Step::note ? 1 : host_.plan_of(operation).blocks;
      const bool ahead = looks_ahead(phase, blocks);
      if (ahead) made.push_back({true, true, operation, task, phase, 1});
      made.push_back({false, !ahead, operation, task, phase, blocks});
    }
    return made;
  }
  void put(const Recorded& recorded) { stream_.insert(stream_.end(), recorded.begin(), recorded.end()); }
  void put(const Operation& operation) { put(record(operation)); }

  bool is_done() const { return stream_.empty(); }
  bool has_begun() const { return !blocks_left_.empty(); }
  // Whether the kernel at the head of the stream has begun, or what it waits for has happened.
  bool may_run() const { return !is_done() && (has_begun() || has_met(stream_.front())); }

  template <typename Random>
  void run_a_block(Random& random) {
    const Launch& launch = stream_.front();
    if (!has_begun()) {
      blocks_left_.resize(launch.blocks);
      std::iota(blocks_left_.begin(), blocks_left_.end(), 0u);
      std::shuffle(blocks_left_.begin(), blocks_left_.end(), random);
    }
    const unsigned block = blocks_left_.back();
    testing::run_block(block, launch.blocks, [&] {
      if (launch.looks) return look_kernel(launch.task, launch.phase);
      HostRank::call_phase(launch.operation, launch.task, launch.phase);
    });
    blocks_left_.pop_back();
    if (blocks_left_.empty()) stream_.pop_front();
  }

  // What the host does to end this rank's waits, first and again.
  void abort() {
    host_.words().abort = 1;
    release();
  }
  void release() {
    for (auto& meeting : own_->met)
      for (std::uint32_t& word : meeting) word = kCame;
  }
  const HostWords& words() const { return host_.words(); }
  const RankWords& own() const { return *own_; }

 private:
  static constexpr std::uint32_t kMostBlocksHere = 3;

  bool has_met(const Launch& launch) const {
    if (!launch.waits || launch.phase.waits == Meeting::none) return true;
    const auto& met = own_->met[static_cast<int>(launch.phase.waits)];
    for (std::uint32_t peer = 0; peer < launch.task.world; ++peer) {
      const bool waits =
          is_of_message(launch.phase.step) ? peer == launch.task.root : peer != launch.task.rank;
      if (waits && (met[peer] & kCame) == 0) return false;
    }
    return true;
  }

  HostRank host_;
  RankWords* own_;
  std::deque<Launch> stream_;
  std::vector<unsigned> blocks_left_;  // of the kernel that runs
};

class Model {
 public:
  Model(int world, std::uint32_t seed, Turns turns) : arenas_(world), random_(seed), turns_(turns) {
    for (int rank = 0; rank < world; ++rank)
      ranks_.push_back(std::make_unique<ModelRank>(arenas_, rank, world));
  }
  ModelRank& rank(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }

  // Runs one of what may run; false when nothing may.
  bool step() {
    std::vector<ModelRank*> ready;
    for (const auto& each : ranks_)
      if (each->may_run()) ready.push_back(each.get());
    if (ready.empty()) return false;
    ModelRank& next = *ready[random_() % ready.size()];
    do next.run_a_block(random_);
    while (turns_ == Turns::of_kernels && next.has_begun());
    return true;
  }
  void run() {
    while (step()) {
    }
  }
  bool all_done() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& each) { return each->is_done(); });
  }
  unsigned random() { return static_cast<unsigned>(random_()); }

 private:
  SharedArenas arenas_;
  std::mt19937 random_;
  Turns turns_;
  std::vector<std::unique_ptr<ModelRank>> ranks_;
};

using Values = std::vector<std::int64_t>;
Buffer buffer_of(Values& values) {
  return {values.data(), values.size() * sizeof(std::int64_t), ElementType::i64, Place::device};
}

constexpr std::size_t kLarge = 200'000;  // elements: two-shot with three ranks, and several rounds

// What a rank does, in the order of a script that is the same on all ranks, beside the values that it must
// end with.
class ScriptedRank {
 public:
  ScriptedRank(ModelRank& rank, int number, int world)
      : rank_(rank),
        number_(number),
        world_(world),
        small_(10, number + 1),
        large_(kLarge, number + 1),
        all_(static_cast<std::size_t>(world) * 40, -1),
        step_recording_(recorded_step()) {}

  void operation(unsigned which) {
    switch (which % 6) {
      case 0:
        return rank_.put(all_reduce(buffer_of(small_), ReduceOp::max, Purpose::gradient));
      case 1:
        return rank_.put(all_reduce(buffer_of(large_), ReduceOp::max, Purpose::gradient));
      case 2:
        return rank_.put(barrier());
      case 3:
        return rank_.put(all_gather(own_part(), buffer_of(all_), Purpose::parameter));
      case 4:
        return rank_.put(broadcast(buffer_of(small_), 1, Purpose::parameter));
      default:
        return rank_.put(step_recording_);  // a replay
    }
  }
  // Every rank sends to the next; the last receives first.
  void send_around() {
    const int next = (number_ + 1) % world_, previous = (number_ + world_ - 1) % world_;
    received_.assign(kLarge, -1);
    const Operation out = send(buffer_of(large_), next, Purpose::gradient);
    const Operation in = receive(buffer_of(received_), previous, Purpose::gradient);
    rank_.put(number_ == world_ - 1 ? in : out);
    rank_.put(number_ == world_ - 1 ? out : in);
  }

  // After a large and a small maximum at least: every rank has the greatest.
  void expect_results() const {
    EXPECT_EQ(small_, Values(10, world_));
    EXPECT_EQ(large_, Values(kLarge, world_));
    for (int rank = 0; rank < world_; ++rank) EXPECT_EQ(all_[static_cast<std::size_t>(rank) * 40], rank);
    EXPECT_EQ(received_, large_);
  }

 private:
  Buffer own_part() {
    part_.assign(40, number_);
    return buffer_of(part_);
  }
  // One meeting, then two, then one: what comes after it must not depend on how many there were.
  Recorded recorded_step() {
    Recorded step = rank_.record(all_reduce(buffer_of(small_), ReduceOp::max, Purpose::gradient));
    for (const Operation& each : {all_reduce(buffer_of(large_), ReduceOp::max, Purpose::gradient),
                                  broadcast(buffer_of(small_), 0, Purpose::parameter)}) {
      const Recorded more = rank_.record(each);
      step.insert(step.end(), more.begin(), more.end());
    }
    return step;
  }

  ModelRank& rank_;
  int number_, world_;
  Values small_, large_, all_, part_, received_;
  Recorded step_recording_;
};

struct Device {
  int world;
  Turns turns;
};
class P2pPhasesOnOneDevice : public ::testing::TestWithParam<Device> {};

TEST_P(P2pPhasesOnOneDevice, EndInEveryOrderWithRecordedOperationsBetweenOthers) {
  const auto [world, turns] = GetParam();
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    Model model(world, seed, turns);
    std::vector<std::unique_ptr<ScriptedRank>> scripts;
    for (int rank = 0; rank < world; ++rank)
      scripts.push_back(std::make_unique<ScriptedRank>(model.rank(rank), rank, world));
    std::vector<unsigned> script = {0, 1, 3};
    for (int i = 0; i < 12; ++i) script.push_back(model.random());
    script.insert(script.end(), {5, 5, 0, 5});
    for (const auto& each : scripts) {
      for (const unsigned which : script) each->operation(which);
      each->send_around();
      each->send_around();
    }
    model.run();
    ASSERT_TRUE(model.all_done()) << "nothing may run, with seed " << seed;
    for (int rank = 0; rank < world; ++rank) {
      scripts[static_cast<std::size_t>(rank)]->expect_results();
      EXPECT_EQ(model.rank(rank).words().trouble, 0u);
      EXPECT_EQ(model.rank(rank).own().begun, model.rank(0).own().begun);
      EXPECT_EQ(model.rank(rank).own().ended, model.rank(rank).own().begun);
    }
  }
}

// At every point of an operation: what is on the stream ends, and nothing more is written.
TEST_P(P2pPhasesOnOneDevice, EndWhenTheHostAbortsAtAnyPoint) {
  const auto [world, turns] = GetParam();
  for (int steps = 0; steps < 24; steps += steps < 6 ? 1 : 6) {
    Model model(world, static_cast<std::uint32_t>(steps), turns);
    std::vector<Values> values(static_cast<std::size_t>(world), Values(kLarge, 1)), later = values;
    for (int rank = 0; rank < world; ++rank)
      for (auto* all : {&values, &later})
        model.rank(rank).put(
            all_reduce(buffer_of((*all)[static_cast<std::size_t>(rank)]), ReduceOp::sum, Purpose::gradient));
    for (int step = 0; step < steps; ++step) model.step();
    const std::vector<Values> before = later;
    for (int rank = 0; rank < world; ++rank) {
      model.rank(rank).abort();
      model.run();
      // A kernel that ran when the words were set may have put them back: they are set again.
      for (int again = 0; again < 3 && !model.rank(rank).is_done(); ++again) {
        model.rank(rank).release();
        model.run();
      }
      EXPECT_TRUE(model.rank(rank).is_done()) << "after " << steps << " steps";
    }
    if (steps < 4) {
      EXPECT_EQ(later, before);
    }
    for (int rank = 0; rank < world; ++rank) EXPECT_EQ(model.rank(rank).words().trouble, 0u);
  }
}

TEST_P(P2pPhasesOnOneDevice, FindOutThatAPeerMeansAnotherOperation) {
  const auto [world, turns] = GetParam();
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    Model model(world, seed, turns);
    std::vector<Values> values;
    for (int rank = 0; rank < world; ++rank) values.emplace_back(rank == 1 ? 101 : 100, rank);
    const std::vector<Values> before = values;
    for (int rank = 0; rank < world; ++rank) {
      model.rank(rank).put(barrier());
      model.rank(rank).put(
          all_reduce(buffer_of(values[static_cast<std::size_t>(rank)]), ReduceOp::sum, Purpose::gradient));
    }
    model.run();
    const auto disagreement = static_cast<std::uint32_t>(Trouble::disagreement);
    EXPECT_EQ(model.rank(1).words().trouble, disagreement);
    EXPECT_EQ(model.rank(0).words().trouble, disagreement);
    EXPECT_EQ(model.rank(0).words().peer, 1);
    EXPECT_EQ(values, before) << "something was added up all the same";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, P2pPhasesOnOneDevice,
                         ::testing::Values(Device{2, Turns::of_kernels}, Device{3, Turns::of_kernels},
                                           Device{2, Turns::of_blocks}, Device{3, Turns::of_blocks},
                                           Device{4, Turns::of_blocks}),
                         [](const auto& device) {
                           return std::to_string(device.param.world) +
                                  (device.param.turns == Turns::of_kernels ? "Kernels" : "Blocks");
                         });

}  // namespace
}  // namespace lockstep::comm::p2p
