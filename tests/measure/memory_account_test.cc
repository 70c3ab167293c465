// Tests of the memory account: its sums, its peak and its cap, whichever thread reports.
#include "lockstep/measure/memory_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::measure {
namespace {

using testing::HasSubstr;

std::uint64_t bytes_of(const BytesByUse& by_use, Use use) {
  return by_use[static_cast<std::size_t>(use)];
}
std::uint64_t sum_of(const BytesByUse& by_use) {
  return std::accumulate(by_use.begin(), by_use.end(), std::uint64_t{0});
}

TEST(Use, NamesAreDifferent) {
  std::set<std::string_view> names;
  for (int i = 0; i < kUseCount; ++i) names.insert(name_of(static_cast<Use>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kUseCount));
  EXPECT_EQ(name_of(Use::optimizer), "optimizer");
}

TEST(MemoryAccount, HoldsWhatWasAddedAndNotRemoved) {
  MemoryAccount account;
  account.add(Use::parameters, 100);
  account.add(Use::activations, 50);
  account.remove(Use::activations, 20);
  EXPECT_EQ(account.in_use(), 130u);
  EXPECT_EQ(bytes_of(account.by_use(), Use::parameters), 100u);
  EXPECT_EQ(bytes_of(account.by_use(), Use::activations), 30u);
  EXPECT_FALSE(account.cap_bytes().has_value());
}

TEST(MemoryAccount, KeepsTheSplitOfTheInstantOfThePeak) {
  MemoryAccount account;
  account.add(Use::parameters, 100);
  account.add(Use::activations, 500);
  account.remove(Use::activations, 500);
  account.add(Use::optimizer, 300);
  EXPECT_EQ(account.peak_bytes(), 600u);
  EXPECT_EQ(bytes_of(account.by_use_at_peak(), Use::activations), 500u);
  EXPECT_EQ(bytes_of(account.by_use_at_peak(), Use::optimizer), 0u);
  EXPECT_EQ(sum_of(account.by_use_at_peak()), account.peak_bytes());
}

TEST(MemoryAccount, ARestartedPeakBeginsWithWhatIsInUse) {
  MemoryAccount account;
  account.add(Use::activations, 500);
  account.remove(Use::activations, 400);
  account.restart_peak();
  EXPECT_EQ(account.peak_bytes(), 100u);
  EXPECT_EQ(sum_of(account.by_use_at_peak()), 100u);
}

TEST(MemoryAccount, FillsUpToTheCapAndNotBeyond) {
  MemoryAccount account(1000);
  account.add(Use::parameters, 400);
  account.add(Use::activations, 600);
  EXPECT_THROW(account.add(Use::other, 1), OutOfMemory);
  account.remove(Use::activations, 600);
  EXPECT_NO_THROW(account.add(Use::other, 600));
}

TEST(MemoryAccount, ARefusedReportChangesNothing) {
  MemoryAccount account(1000);
  account.add(Use::parameters, 400);
  EXPECT_THROW(account.add(Use::activations, 601), OutOfMemory);
  EXPECT_EQ(account.in_use(), 400u);
  EXPECT_EQ(account.peak_bytes(), 400u);
  EXPECT_EQ(bytes_of(account.by_use(), Use::activations), 0u);
}

TEST(MemoryAccount, ARefusalSaysWhatWasAskedForWhatIsInUseAndTheCap) {
  MemoryAccount account(4u << 20);
  account.add(Use::parameters, 1u << 20);
  try {
    account.add(Use::activations, 8u << 20);
    FAIL() << "8 MiB went into 4";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.needed_bytes(), 9u << 20);
    EXPECT_EQ(error.cap_bytes(), 4u << 20);
    EXPECT_EQ(error.exit_code(), base::ExitCode::run_failed);
    for (const char* part : {"8.00 MiB", "activations", "4.00 MiB", "parameters 1.00 MiB"})
      EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(MemoryAccount, WhatIsTakenAlreadyIsCountedWhateverTheCap) {
  MemoryAccount account(1000);
  account.note(Use::activations, 1500);
  EXPECT_EQ(account.in_use(), 1500u);
  EXPECT_EQ(account.peak_bytes(), 1500u);
  EXPECT_THROW(account.add(Use::other, 1), OutOfMemory);
  account.remove(Use::activations, 1500);
  EXPECT_NO_THROW(account.add(Use::other, 1000));
}

TEST(MemoryAccount, ARequestOfAnySizeIsRefusedWithoutWrappingRound) {
  MemoryAccount account(1000);
  account.add(Use::parameters, 999);
  EXPECT_THROW(account.add(Use::other, std::numeric_limits<std::uint64_t>::max()), OutOfMemory);
  EXPECT_EQ(account.in_use(), 999u);
}

TEST(MemoryAccount, WhatIsUsedForSomethingElseIsNeitherMoreNorLess) {
  MemoryAccount account(100);
  account.add(Use::activations, 100);
  account.move(Use::activations, Use::gradients, 60);
  EXPECT_EQ(account.in_use(), 100u);
  EXPECT_EQ(bytes_of(account.by_use(), Use::activations), 40u);
  EXPECT_EQ(bytes_of(account.by_use(), Use::gradients), 60u);
}

TEST(MemoryAccount, RemovingMoreThanThereIsDoesNotWrapRound) {
  MemoryAccount account(1000);
  account.add(Use::buckets, 10);
  account.remove(Use::buckets, 20);
  EXPECT_EQ(account.in_use(), 0u);
  EXPECT_NO_THROW(account.add(Use::buckets, 1000));
}

TEST(MemoryAccount, LosesNothingWhenThreadsReportAtOnce) {
  MemoryAccount account;
  const auto report = [&](Use use) {
    for (int i = 0; i < 5000; ++i) {
      account.add(use, 3);
      account.remove(use, 2);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(report, static_cast<Use>(i));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(account.in_use(), 4u * 5000u);
  EXPECT_EQ(sum_of(account.by_use()), account.in_use());
  EXPECT_EQ(sum_of(account.by_use_at_peak()), account.peak_bytes());
}

TEST(MemoryAccount, ThreadsTogetherStayUnderTheCap) {
  MemoryAccount account(1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) try {
          account.add(Use::activations, 400);
          account.remove(Use::activations, 400);
        } catch (const OutOfMemory&) {
        }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(account.peak_bytes(), 1000u);
  EXPECT_EQ(account.in_use(), 0u);
}

TEST(UseScope, IsOtherOutsideOfAnyAndTheInnermostInside) {
  EXPECT_EQ(UseScope::current(), Use::other);
  {
    const UseScope outer(Use::activations);
    {
      const UseScope inner(Use::optimizer);
      EXPECT_EQ(UseScope::current(), Use::optimizer);
    }
    EXPECT_EQ(UseScope::current(), Use::activations);
  }
  EXPECT_EQ(UseScope::current(), Use::other);
}

TEST(UseScope, IsSeenByItsOwnThreadOnly) {
  const UseScope scope(Use::buckets);
  Use seen = Use::buckets;
  std::thread([&] { seen = UseScope::current(); }).join();
  EXPECT_EQ(seen, Use::other);
}

}  // namespace
}  // namespace lockstep::measure
