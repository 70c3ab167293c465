// Tests of running out of memory in libtorch's middle: the error keeps its meaning, and training goes on
// after it.
#include "lockstep/measure/torch/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/measure/torch/device_blocks.h"

namespace lockstep::measure {
namespace {

using measure::MemoryAccount;
using measure::OutOfMemory;
using testing::HasSubstr;

constexpr std::uint64_t kCap = 4u << 20;

class OutOfMemoryTest : public testing::Test {
 protected:
  OutOfMemoryTest() { install_counting_allocator(std::make_shared<MemoryAccount>()); }

  std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>(kCap);
};

// One training step of a weight of [64] on a batch; returns the loss.
at::Tensor loss_of(const at::Tensor& weight, std::int64_t batch) {
  return (at::ones({batch, 64}) * weight).exp().sum();
}

// What was thrown, converted.
template <class Body>
OutOfMemory out_of_memory_in(const Body& body) {
  try {
    try {
      body();
    } catch (...) {
      rethrow_as_out_of_memory();
    }
  } catch (const OutOfMemory& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return OutOfMemory(0, 0, "");
}

TEST_F(OutOfMemoryTest, ATensorAboveTheCapIsRefusedWithItsFigures) {
  const AccountScope scope(account_);
  const OutOfMemory error = out_of_memory_in([] { at::empty({8 << 20}); });
  EXPECT_EQ(error.cap_bytes(), kCap);
  EXPECT_EQ(error.needed_bytes(), 32u << 20);
  EXPECT_THAT(error.what(), HasSubstr("32.0 MiB more for other do not fit into this worker's 4.00 MiB"));
  EXPECT_EQ(account_->in_use(), 0u);
}

TEST_F(OutOfMemoryTest, BackwardThatRunsOutSaysSoAndTrainingGoesOn) {
  const AccountScope scope(account_);
  const at::Tensor weight = at::zeros({64}).requires_grad_();
  const std::uint64_t before = account_->in_use();
  {
    // Forward keeps its input and its exponential, 1.25 MiB each; with another 1 MiB in use, backward has no
    // room for its first gradient.
    const at::Tensor loss = loss_of(weight, 5 * 1024);
    const at::Tensor another = at::empty({1 << 18});
    EXPECT_THROW(loss.backward(), OutOfMemory);
  }
  weight.mutable_grad().reset();
  EXPECT_EQ(account_->in_use(), before);
  loss_of(weight, 1024).backward();
  EXPECT_TRUE(weight.grad().equal(at::full({64}, 1024.0F)));
  EXPECT_LE(account_->peak_bytes(), kCap);
}

TEST_F(OutOfMemoryTest, ATorchScriptModuleLeavesTheTextAndTheErrorIsMadeWholeAgain) {
  const AccountScope scope(account_);
  torch::jit::Module module("user");
  module.define("def forward(self, x):\n    return x.repeat([4096, 4096])\n");
  const at::Tensor input = at::ones({1, 1});
  const OutOfMemory error = out_of_memory_in([&] { module.forward({input}); });
  EXPECT_EQ(error.cap_bytes(), kCap);
  EXPECT_GT(error.needed_bytes(), 64u << 20);
}

TEST_F(OutOfMemoryTest, AGpusErrorBecomesOurs) {
  const OutOfMemory error = out_of_memory_in(
      [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 2 GiB"); });
  EXPECT_THAT(error.what(), HasSubstr("Tried to allocate 2 GiB"));
}

TEST_F(OutOfMemoryTest, AGpusErrorTellsWhatWasInUseWhereThatWasCounted) {
  count_device_blocks(account_);
  account_->note(Use::activations, 3u << 20);
  const OutOfMemory error =
      out_of_memory_in([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory."); });
  count_device_blocks(nullptr);
  EXPECT_THAT(error.what(), HasSubstr("At most 3.00 MiB were in use by this worker (activations 3.00 MiB)"));
}

TEST_F(OutOfMemoryTest, ALibraryThatHasNoRoomOnTheGpuIsOutOfMemoryToo) {
  for (const std::string text : {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                                 "cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "CUDA error: out of memory"})
    EXPECT_THAT(out_of_memory_in([&] { TORCH_CHECK(false, text); }).what(), HasSubstr(text));
}

TEST_F(OutOfMemoryTest, AFailedAllocationOfTheProgramsOwnBecomesOurs) {
  EXPECT_THAT(out_of_memory_in([] { throw std::bad_alloc(); }).what(), HasSubstr("no more memory"));
}

TEST_F(OutOfMemoryTest, OtherErrorsPassUnchanged) {
  try {
    try {
      at::ones({2}).view({3});
    } catch (...) {
      rethrow_as_out_of_memory();
    }
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_EQ(dynamic_cast<const OutOfMemory*>(&error), nullptr);
    EXPECT_THAT(error.what(), HasSubstr("shape"));
  }
}

TEST_F(OutOfMemoryTest, WhatTheMachineDoesNotHaveIsOutOfMemoryWithoutACap) {
  constexpr std::int64_t kMoreThanThereAreAddresses = std::int64_t{1} << 46;
  const OutOfMemory error = out_of_memory_in([] { at::empty({kMoreThanThereAreAddresses}); });
  EXPECT_THAT(error.what(), HasSubstr("the machine"));
  EXPECT_EQ(error.cap_bytes(), 0u);
}

}  // namespace
}  // namespace lockstep::measure
