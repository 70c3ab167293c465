// Tests of the counting allocator through real tensors: what is counted, for what, in which account.
#include "lockstep/measure/torch/counting_allocator.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <thread>

namespace lockstep::measure {
namespace {

using measure::MemoryAccount;
using measure::Use;
using measure::UseScope;

std::uint64_t bytes_for(const MemoryAccount& account, Use use) {
  return account.by_use()[static_cast<std::size_t>(use)];
}

class CountingAllocatorTest : public testing::Test {
 protected:
  CountingAllocatorTest() { install_counting_allocator(account_); }
  std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>();
};

TEST_F(CountingAllocatorTest, CountsTheBytesOfATensorWhileItLives) {
  {
    const at::Tensor tensor = at::empty({10, 25});
    EXPECT_EQ(account_->in_use(), 1000u);
    const at::Tensor view = tensor.narrow(0, 2, 3);
    EXPECT_EQ(account_->in_use(), 1000u);
  }
  EXPECT_EQ(account_->in_use(), 0u);
  EXPECT_EQ(account_->peak_bytes(), 1000u);
}

TEST_F(CountingAllocatorTest, CountsForTheUseOfTheScopeInWhichItWasAllocated) {
  at::Tensor weight;
  {
    const UseScope scope(Use::parameters);
    weight = at::empty({100});
  }
  const UseScope scope(Use::activations);
  const at::Tensor activation = at::empty({50});
  EXPECT_EQ(bytes_for(*account_, Use::parameters), 400u);
  EXPECT_EQ(bytes_for(*account_, Use::activations), 200u);
  weight.reset();
  EXPECT_EQ(bytes_for(*account_, Use::parameters), 0u);
  EXPECT_EQ(bytes_for(*account_, Use::activations), 200u);
}

TEST_F(CountingAllocatorTest, MemoryIsAlignedForVectors) {
  for (const int elements : {1, 3, 17, 1000, 100'000})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at::empty({elements}).data_ptr()) % 64, 0u);
}

TEST_F(CountingAllocatorTest, EmptyTensorsCostNothing) {
  const at::Tensor nothing = at::empty({0, 3});
  EXPECT_EQ(account_->in_use(), 0u);
  EXPECT_EQ(nothing.data_ptr(), nullptr);
}

TEST_F(CountingAllocatorTest, ATensorThatGrowsIsCountedAsItIs) {
  at::Tensor tensor = at::ones({10});
  tensor.resize_({1000});
  EXPECT_EQ(account_->in_use(), 4000u);
  EXPECT_EQ(tensor[9].item<float>(), 1.0F);
}

TEST_F(CountingAllocatorTest, MemoryOfOthersIsNotCounted) {
  std::vector<float> bucket(100);
  const at::Tensor view = at::from_blob(bucket.data(), {100});
  count_as(view, Use::gradients);
  EXPECT_EQ(account_->in_use(), 0u);
}

TEST_F(CountingAllocatorTest, ATensorCanBeCountedForAnotherUse) {
  const UseScope scope(Use::activations);
  const at::Tensor gradient = at::empty({25});
  count_as(gradient, Use::gradients);
  EXPECT_EQ(bytes_for(*account_, Use::activations), 0u);
  EXPECT_EQ(bytes_for(*account_, Use::gradients), 100u);
  EXPECT_EQ(account_->in_use(), 100u);
}

TEST_F(CountingAllocatorTest, AStepFindsTheMemoryThatTheStepBeforeFreed) {
  const void* const before = at::empty({12'345}).data_ptr();
  EXPECT_EQ(at::empty({12'345}).data_ptr(), before);
  EXPECT_GE(idle_tensor_bytes(), 4u * 12'345);
  release_idle_tensor_memory();
  EXPECT_EQ(idle_tensor_bytes(), 0u);
}

TEST_F(CountingAllocatorTest, AThreadMayHaveAnAccountOfItsOwnAndBlocksRememberTheirs) {
  const auto replica = std::make_shared<MemoryAccount>();
  at::Tensor made_elsewhere;
  std::thread([&] {
    const AccountScope scope(replica);
    made_elsewhere = at::empty({100});
  }).join();
  EXPECT_EQ(replica->in_use(), 400u);
  EXPECT_EQ(account_->in_use(), 0u);
  made_elsewhere.reset();
  EXPECT_EQ(replica->in_use(), 0u);
}

TEST_F(CountingAllocatorTest, TensorsMayOutliveTheirAccountsOwner) {
  at::Tensor tensor;
  {
    const AccountScope scope(std::make_shared<MemoryAccount>());
    tensor = at::ones({100});
  }
  EXPECT_EQ(tensor.sum().item<float>(), 100.0F);
  tensor.reset();
}

TEST_F(CountingAllocatorTest, BackwardIsCountedInTheScopeItRunsIn) {
  const UseScope scope(Use::activations);
  const at::Tensor weight = at::ones({1000}).requires_grad_();
  const at::Tensor loss = (weight * weight).exp().sum();
  account_->restart_peak();
  loss.backward();
  EXPECT_GT(account_->peak_bytes(), 4u * 4000);
  EXPECT_EQ(account_->peak_bytes(), account_->by_use_at_peak()[static_cast<std::size_t>(Use::activations)]);
}

}  // namespace
}  // namespace lockstep::measure
