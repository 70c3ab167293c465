// Tests of how a GPU's memory is counted, with blocks that an allocator might have told of.
#include "lockstep/measure/torch/device_blocks.h"

#include <ATen/ATen.h>
#include <ATen/ThreadLocalState.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "lockstep/measure/torch/counting_allocator.h"

namespace lockstep::measure {
namespace {

std::uint64_t bytes_for(const MemoryAccount& account, Use use) {
  return account.by_use()[static_cast<std::size_t>(use)];
}

class DeviceBlocks : public testing::Test {
 protected:
  DeviceBlocks() {
    install_counting_allocator(host_);
    count_device_blocks(account_);
  }
  ~DeviceBlocks() override { count_device_blocks(nullptr); }
  // A thread as autograd's: it has no scopes, and computes for `body`'s caller what that asked for.
  static void on_autograds_thread(const std::function<void()>& body) {
    const at::ThreadLocalState callers;
    std::thread([&] {
      const at::ThreadLocalStateGuard guard(callers);
      body();
    }).join();
  }

  std::shared_ptr<MemoryAccount> host_ = std::make_shared<MemoryAccount>();
  std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>(1000);
};

TEST_F(DeviceBlocks, AreCountedForTheUseOfTheScopeUntilTheyAreReturned) {
  {
    const UseScope scope(Use::parameters);
    device_block_taken(512, 100);
  }
  device_block_taken(1024, 30);
  EXPECT_EQ(bytes_for(*account_, Use::parameters), 100u);
  EXPECT_EQ(bytes_for(*account_, Use::other), 30u);
  device_block_returned(512);
  device_block_returned(1024);
  EXPECT_EQ(account_->in_use(), 0u);
  EXPECT_EQ(account_->peak_bytes(), 130u);
}

TEST_F(DeviceBlocks, CanBeCountedForAnotherUse) {
  device_block_taken(512, 100);
  count_device_block_as(512, Use::gradients);
  EXPECT_EQ(bytes_for(*account_, Use::gradients), 100u);
  device_block_returned(512);
  EXPECT_EQ(account_->in_use(), 0u);
}

TEST_F(DeviceBlocks, OfWhichNothingIsKnownAreLeftAlone) {
  device_block_returned(4711);
  count_device_block_as(4711, Use::gradients);
  EXPECT_EQ(account_->in_use(), 0u);
}

TEST_F(DeviceBlocks, AreCountedBeyondTheCapWhichIsTheAllocatorsOwnBusiness) {
  device_block_taken(512, 5000);
  EXPECT_EQ(account_->in_use(), 5000u);
  EXPECT_THROW(account_->add(Use::communication, 1), OutOfMemory);
  device_block_returned(512);
}

TEST_F(DeviceBlocks, OfBackwardAreTheCallersWhereverItIsComputed) {
  const auto replica = std::make_shared<MemoryAccount>();
  const AccountScope account(replica);
  const UseScope use(Use::activations);
  const BackwardScope lent;
  on_autograds_thread([] {
    device_block_taken(512, 100);
    const UseScope gathered(Use::parameters);  // of a hook
    device_block_taken(1024, 10);
  });
  EXPECT_EQ(bytes_for(*replica, Use::activations), 100u);
  EXPECT_EQ(bytes_for(*replica, Use::parameters), 10u);
  EXPECT_EQ(account_->in_use(), 0u);
  on_autograds_thread([] { device_block_returned(512); });
  device_block_returned(1024);
  EXPECT_EQ(replica->in_use(), 0u);
}

TEST_F(DeviceBlocks, OfAThreadWithoutAnyScopeAreTheProcessesOther) {
  std::thread([] { device_block_taken(512, 100); }).join();
  EXPECT_EQ(bytes_for(*account_, Use::other), 100u);
  device_block_returned(512);
}

TEST_F(DeviceBlocks, LeaveTensorsOfTheHostToTheProcess) {
  const auto replica = std::make_shared<MemoryAccount>();
  const AccountScope scope(replica);
  const at::Tensor tensor = at::empty({25});
  EXPECT_EQ(host_->in_use(), 100u);
  EXPECT_EQ(replica->in_use(), 0u);
}

}  // namespace
}  // namespace lockstep::measure
