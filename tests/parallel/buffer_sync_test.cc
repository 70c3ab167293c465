#include "lockstep/parallel/buffer_sync.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lockstep/comm/wrappers/recording.h"
#include "lockstep/models/registry.h"
#include "tests/support/ranks.h"
#include "tests/support/replicas.h"

namespace lockstep::parallel {
namespace {

using lockstep::testing::check;

models::Model narrow_model() {
  models::ModelOptions options;
  options.classes = 10;
  options.channels = 3;
  options.image_height = options.image_width = 16;
  options.width = 8;
  const auto layers = models::standard_layers({});
  return models::build_model("resnet18-cifar", options, *layers, 1);
}

// What each rank has seen: its rank plus one, in every value.
void fill(const models::Model& model, int rank) {
  for (const models::NamedTensor& buffer : model.buffers()) buffer.tensor.fill_(rank + 1);
}

bool all_are(const models::Model& model, double mean, double count) {
  for (const models::NamedTensor& buffer : model.buffers()) {
    const bool counts = at::isIntegralType(buffer.tensor.scalar_type(), true);
    if (!buffer.tensor.eq(counts ? count : mean).all().item<bool>()) return false;
  }
  return true;
}

std::uint64_t buffer_bytes(const models::Model& model) {
  std::uint64_t bytes = 0;
  for (const models::NamedTensor& buffer : model.buffers()) bytes += buffer.tensor.nbytes();
  return bytes;
}

struct Outcome {
  double mean, count;   // what rank 2 of 3 has afterwards
  std::uint64_t times;  // how often the buffers were moved
};

void expect_outcome(BufferMode mode, const Outcome& expected) {
  lockstep::testing::expect_replicas_succeed(3, [&](comm::Communicator& communicator) {
    measure::Ledger ledger;
    measure::MemoryAccount memory;
    comm::RecordingCommunicator recorded(communicator.duplicate(), ledger);
    const auto timer = measure::host_step_timer();
    const models::Model model = narrow_model();
    const int rank = communicator.group().rank;
    std::uint64_t payload = 0;
    {
      BufferSync sync(model, mode, recorded, *timer, memory);
      check(memory.by_use()[static_cast<std::size_t>(measure::Use::communication)] ==
                expected.times * buffer_bytes(model),
            "the memory is counted");
      fill(model, rank);
      sync.exchange();
      for (const measure::LedgerRow& row : ledger.rows()) {
        check(row.purpose == measure::Purpose::buffer, "the purpose is buffer");
        payload += row.payload_bytes;
      }
    }
    check(payload == expected.times * buffer_bytes(model), "payload is the bytes of the buffers");
    if (rank == 2) check(all_are(model, expected.mean, expected.count), "values, kept when the sync is gone");
    check(memory.in_use() == 0, "the memory is given back");
  });
}

TEST(BufferSync, LocalLeavesThemAlone) {
  expect_outcome(BufferMode::local, {3, 3, 0});
}

TEST(BufferSync, SyncLeavesThemToTheLayers) {
  expect_outcome(BufferMode::sync, {3, 3, 0});
}

TEST(BufferSync, BroadcastTakesRank0s) {
  expect_outcome(BufferMode::broadcast, {1, 1, 1});
}

TEST(BufferSync, AverageTakesTheMeanAndTheLargestCount) {
  expect_outcome(BufferMode::average, {2, 3, 1});
}

TEST(BufferSync, FrozenUnitsMoveNothing) {
  lockstep::testing::expect_replicas_succeed(2, [&](comm::Communicator& communicator) {
    measure::Ledger ledger;
    measure::MemoryAccount memory;
    comm::RecordingCommunicator recorded(communicator.duplicate(), ledger);
    const auto timer = measure::host_step_timer();
    const models::Model model = narrow_model();
    for (models::Unit* unit : models::all_units(model.root())) unit->freeze(true);
    BufferSync sync(model, BufferMode::broadcast, recorded, *timer, memory);
    sync.exchange();
    check(ledger.rows().empty(), "nothing is sent");
  });
}

}  // namespace
}  // namespace lockstep::parallel
