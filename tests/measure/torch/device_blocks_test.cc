// Tests of how a GPU's memory is counted, with blocks that an allocator might have told of.
#include "lockstep/measure/torch/device_blocks.h"

#include <ATen/ATen.h>
#include <ATen/ThreadLocalState.h>
#include <c10/core/Allocator.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "lockstep/measure/torch/counting_allocator.h"

namespace lockstep::measure {
namespace {

std::uint64_t bytes_for(const MemoryAccount& account, Use use) {
  return account.by_use()[static_cast<std::size_t>(use)];
}

// What libtorch's allocator tells where it gives out a block or gets one back.
void taken(std::uintptr_t address, std::int64_t bytes) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(address), bytes, 0, 0,
                                   c10::Device(c10::DeviceType::CUDA, 0));
}
void returned(std::uintptr_t address) {
  constexpr std::int64_t kAny = 1;  // its size is known
  taken(address, -kAny);
}

class DeviceBlocks : public testing::Test {
 protected:
  DeviceBlocks() {
    install_counting_allocator(host_);
    count_device_blocks(account_);
    watch_.emplace();
  }
  ~DeviceBlocks() override {
    watch_.reset();
    count_device_blocks(nullptr);
  }
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
  std::optional<DeviceWatch> watch_;
};

TEST_F(DeviceBlocks, AreCountedForTheUseOfTheScopeUntilTheyAreReturned) {
  {
    const UseScope scope(Use::parameters);
    taken(512, 100);
  }
  taken(1024, 30);
  EXPECT_EQ(bytes_for(*account_, Use::parameters), 100u);
  EXPECT_EQ(bytes_for(*account_, Use::other), 30u);
  returned(512);
  returned(1024);
  EXPECT_EQ(account_->in_use(), 0u);
  EXPECT_EQ(account_->peak_bytes(), 130u);
}

TEST_F(DeviceBlocks, CanBeCountedForAnotherUse) {
  taken(512, 100);
  count_device_block_as(512, Use::gradients);
  EXPECT_EQ(bytes_for(*account_, Use::gradients), 100u);
  returned(512);
  EXPECT_EQ(account_->in_use(), 0u);
}

TEST_F(DeviceBlocks, OfWhichNothingIsKnownAreLeftAlone) {
  returned(4711);
  count_device_block_as(4711, Use::gradients);
  EXPECT_EQ(account_->in_use(), 0u);
}

TEST_F(DeviceBlocks, AreCountedBeyondTheCapWhichIsTheAllocatorsOwnBusiness) {
  taken(512, 5000);
  EXPECT_EQ(account_->in_use(), 5000u);
  EXPECT_THROW(account_->add(Use::communication, 1), OutOfMemory);
  returned(512);
}

TEST_F(DeviceBlocks, OfBackwardAreTheCallersWhereverItIsComputed) {
  const auto replica = std::make_shared<MemoryAccount>();
  const AccountScope account(replica);
  const UseScope use(Use::activations);
  const BackwardScope lent;
  on_autograds_thread([] {
    taken(512, 100);
    const UseScope gathered(Use::parameters);  // of a hook
    taken(1024, 10);
  });
  EXPECT_EQ(bytes_for(*replica, Use::activations), 100u);
  EXPECT_EQ(bytes_for(*replica, Use::parameters), 10u);
  EXPECT_EQ(account_->in_use(), 0u);
  on_autograds_thread([] { returned(512); });
  returned(1024);
  EXPECT_EQ(replica->in_use(), 0u);
}

TEST_F(DeviceBlocks, OfAThreadWithoutAnyScopeAreTheProcessesOther) {
  std::thread([] {
    const DeviceWatch watch;
    taken(512, 100);
  }).join();
  EXPECT_EQ(bytes_for(*account_, Use::other), 100u);
  returned(512);
}

TEST_F(DeviceBlocks, OfTheHostAreNotCounted) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(512), 100, 0, 0,
                                   c10::Device(c10::DeviceType::CPU));
  EXPECT_EQ(account_->in_use(), 0u);
}

TEST_F(DeviceBlocks, AreWatchedInTheFirstStepsAndThenInOneOfSixteen) {
  watch_.reset();
  std::vector<std::uint64_t> watched;
  for (std::uint64_t step = 0; step < 40; ++step) {
    watch_device_blocks(is_worth_watching(step));
    const DeviceWatch watch;
    const std::uint64_t before = account_->in_use();
    taken(512 * (step + 1), 10);
    if (account_->in_use() > before) watched.push_back(step);
  }
  EXPECT_EQ(watched, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 24}));
}

TEST_F(DeviceBlocks, ThatWereReturnedUnwatchedAreForgottenWhereOthersTakeTheirPlace) {
  taken(1000, 100);
  taken(1100, 100);
  taken(1200, 100);
  taken(1300, 100);
  taken(1150, 100);  // the middle two are gone
  EXPECT_EQ(account_->in_use(), 300u);
  taken(900, 1000);
  EXPECT_EQ(account_->in_use(), 1000u);
  returned(1300);
  EXPECT_EQ(account_->in_use(), 1000u);
  returned(900);
  EXPECT_EQ(account_->in_use(), 0u);
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
