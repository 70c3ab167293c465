// The negotiation and the background thread between replicas: real threads over the local backend.
#include "lockstep/parallel/horovod/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/comm/thread_queue.h"
#include "lockstep/comm/wrappers/recording.h"
#include "tests/support/ranks.h"
#include "tests/support/replicas.h"

namespace lockstep::parallel::horovod {
namespace {

using lockstep::testing::check;
using lockstep::testing::expect_replicas_succeed;
using namespace std::chrono_literals;

constexpr std::size_t kTensors = 70;  // more than one word of bits

std::vector<TensorFacts> facts() {
  std::vector<TensorFacts> all;
  for (std::size_t tensor = 0; tensor < kTensors; ++tensor)
    all.push_back({"t" + std::to_string(tensor), (tensor + 1) * sizeof(float), comm::ElementType::f32});
  return all;
}

// One replica with everything it needs; tensor t has t + 1 values.
struct Worker {
  Worker(comm::Communicator& communicator, NegotiatorOptions options, std::uint64_t fusion_bytes,
         const std::string& compression = "none")
      : tensors(facts()),
        control(std::make_unique<comm::RecordingCommunicator>(communicator.duplicate(), ledger)),
        data(std::make_unique<comm::RecordingCommunicator>(communicator.duplicate(), ledger)),
        memory(data->allocate(kTensors * (kTensors + 1) / 2 * sizeof(float))),
        reducer(buffers(), Compression(compression), fusion_bytes, *data, account),
        negotiator(options, tensors, *control),
        engine({negotiator, reducer, *control, *data, *compute}, kTensors, 200us) {}

  std::vector<comm::Buffer> buffers() const {
    std::vector<comm::Buffer> all;
    std::size_t offset = 0;
    for (const TensorFacts& one : tensors) {
      all.push_back(memory.buffer(comm::ElementType::f32).part(offset, one.bytes));
      offset += one.bytes;
    }
    return all;
  }
  float* values(std::size_t tensor) const { return static_cast<float*>(buffers()[tensor].data); }
  // Each rank in another order.
  void step(int rank, int number) {
    engine.begin_step();
    for (std::size_t turn = 0; turn < kTensors; ++turn) {
      const std::size_t tensor =
          (turn * (rank % 2 == 0 ? 1 : 69) + static_cast<std::size_t>(rank)) % kTensors;
      std::fill_n(values(tensor), tensor + 1, static_cast<float>((rank + 1) * (number + 1)));
      engine.submit(tensor);
    }
    engine.wait();
  }

  measure::Ledger ledger;
  measure::MemoryAccount account;
  std::vector<TensorFacts> tensors;
  std::unique_ptr<comm::Communicator> control;
  std::unique_ptr<comm::Communicator> data;
  comm::Allocation memory;
  FusedReducer reducer;
  Negotiator negotiator;
  std::unique_ptr<ComputeQueue> compute = host_compute_queue();
  Engine engine;
};

void check_sums(const Worker& worker, int world, int number) {
  const auto expected = static_cast<float>(world * (world + 1) / 2 * (number + 1));
  for (std::size_t tensor = 0; tensor < kTensors; ++tensor) {
    const float* values = worker.values(tensor);
    check(std::all_of(values, values + tensor + 1, [&](float value) { return value == expected; }),
          "a sum is wrong");
  }
}

std::uint64_t payload_of(const Worker& worker, comm::Purpose purpose) {
  std::uint64_t bytes = 0;
  for (const measure::LedgerRow& row : worker.ledger.rows()) {
    if (row.purpose == purpose) bytes += row.payload_bytes;
  }
  return bytes;
}

std::uint64_t documented_control_bytes(const record::ControlFigures& figures) {
  return figures.cycles * figures.bytes_per_cycle + 16 * (figures.requests + figures.negotiations) +
         4 * figures.answers;
}

TEST(HorovodEngine, AddsUpEveryTensorWhateverTheOrderTheCacheAndTheFusion) {
  for (const std::size_t capacity : {0u, 10u, 1024u}) {
    for (const std::uint64_t fusion_bytes : {1u, 300u, 1u << 20}) {
      expect_replicas_succeed(3, [&](comm::Communicator& communicator) {
        Worker worker(communicator, {capacity, {}, {}}, fusion_bytes);
        for (int number = 0; number < 4; ++number) {
          worker.step(communicator.group().rank, number);
          check_sums(worker, 3, number);
        }
        worker.engine.pause();
      });
    }
  }
}

// However late a rank comes: what is fused with what is then the same in every run.
TEST(HorovodEngine, TensorsThatAreHandedInTogetherAreReducedTogether) {
  expect_replicas_succeed(3, [&](comm::Communicator& communicator) {
    Worker worker(communicator, {1024, {}, {}}, 1 << 20);
    for (int number = 0; number < 300; ++number) {
      worker.engine.begin_step();
      std::vector<HandedIn> all;
      for (std::size_t tensor = 0; tensor < kTensors; ++tensor) all.push_back({tensor, {}});
      if (communicator.group().rank == number % 3) std::this_thread::sleep_for(300us);
      worker.engine.submit_together(std::move(all));
      worker.engine.wait();
      check(worker.engine.times().size() == 1, "more than one reduction");
    }
    worker.engine.pause();
  });
}

TEST(HorovodEngine, EveryControlByteIsExplainedByTheCounts) {
  for (const std::size_t capacity : {0u, 10u, 1024u}) {
    expect_replicas_succeed(2, [&](comm::Communicator& communicator) {
      Worker worker(communicator, {capacity, {}, {}}, 1 << 20);
      constexpr std::uint64_t kSteps = 5;
      for (int number = 0; number < static_cast<int>(kSteps); ++number)
        worker.step(communicator.group().rank, number);
      worker.engine.pause();
      const record::ControlFigures figures = worker.engine.figures();
      const std::uint64_t cached = std::min(capacity, kTensors);
      check(figures.bytes_per_cycle == 2 * 8 * (1 + (cached + 63) / 64), "words");
      check(figures.answers == cached + (kTensors - cached) * kSteps, "answers");
      check(figures.requests == 2 * figures.answers, "requests");
      check(payload_of(worker, comm::Purpose::control) == documented_control_bytes(figures), "control bytes");
      check(payload_of(worker, comm::Purpose::gradient) == kSteps * kTensors * (kTensors + 1) / 2 * 4,
            "gradient bytes");
    });
  }
}

TEST(HorovodEngine, CompressionHalvesTheGradientBytesAndKeepsSmallSumsExact) {
  for (const std::string compression : {"f16", "bf16"}) {
    expect_replicas_succeed(2, [&](comm::Communicator& communicator) {
      Worker worker(communicator, {1024, {}, {}}, 300, compression);
      worker.step(communicator.group().rank, 0);
      check_sums(worker, 2, 0);
      worker.engine.pause();
      check(payload_of(worker, comm::Purpose::gradient) == kTensors * (kTensors + 1) / 2 * 2, "bytes");
    });
  }
}

// Tensors are handed in before they are computed, as a GPU's are: each comes 20 ms later.
TEST(HorovodEngine, ReducesATensorAfterWhatComputesIt) {
  expect_replicas_succeed(2, [&](comm::Communicator& communicator) {
    Worker worker(communicator, {1024, {}, {}}, 300);
    comm::ThreadQueue device;
    for (int number = 0; number < 3; ++number) {
      worker.engine.begin_step();
      device.delay(20ms);
      const int rank = communicator.group().rank;
      for (std::size_t tensor = 0; tensor < kTensors; ++tensor) {
        worker.engine.submit(tensor, device.put([&worker, rank, tensor, number] {
          std::fill_n(worker.values(tensor), tensor + 1, static_cast<float>((rank + 1) * (number + 1)));
        }));
      }
      worker.engine.wait().wait();
      check_sums(worker, 2, number);
    }
    worker.engine.pause();
  });
}

TEST(HorovodEngine, GoesOnAfterAPause) {
  expect_replicas_succeed(2, [&](comm::Communicator& communicator) {
    Worker worker(communicator, {1024, {}, {}}, 1 << 20);
    for (int number = 0; number < 3; ++number) {
      worker.step(communicator.group().rank, number);
      worker.engine.pause();
      check_sums(worker, 2, number);
      const std::uint64_t cycles = worker.engine.figures().cycles;
      std::this_thread::sleep_for(50ms);
      check(worker.engine.figures().cycles == cycles, "a paused engine runs no cycles");
    }
  });
}

// Rank 1 has all tensors but one, in the second step: the tensor is in the cache by then.
void expect_stall(std::size_t capacity) {
  std::atomic<int> warnings{0};
  expect_replicas_succeed(3, [&](comm::Communicator& communicator) {
    const int rank = communicator.group().rank;
    NegotiatorOptions options{capacity, {50ms, 400ms}, [&](const std::string& text) {
                                check(text.find("rank 1 has not produced t5,") != std::string::npos, text);
                                ++warnings;
                              }};
    Worker worker(communicator, options, 1 << 20);
    worker.step(rank, 0);
    worker.engine.begin_step();
    for (std::size_t tensor = 0; tensor < kTensors; ++tensor) {
      if (rank != 1 || tensor != 5) worker.engine.submit(tensor);
    }
    try {
      worker.engine.wait();
    } catch (const base::Error& error) {
      const std::string text = error.what();
      check(error.exit_code() == base::ExitCode::timed_out, "exit code");
      check(text.find("stalled: after 400") != std::string::npos, text);
      check(text.find("rank 1 has not produced t5,") != std::string::npos, text);
      return;
    }
    check(false, "the stall was not noticed");
  });
  EXPECT_EQ(warnings, 1);
}

TEST(HorovodEngine, ATensorThatOneRankNeverProducesIsWarnedOfAndThenEndsAllRanks) {
  expect_stall(1024);
  expect_stall(0);
}

}  // namespace
}  // namespace lockstep::parallel::horovod
