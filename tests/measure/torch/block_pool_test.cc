// Tests of the pool of blocks: classes hold what they should, and freed blocks come back.
#include "lockstep/measure/torch/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace lockstep::measure {
namespace {

TEST(SizeClass, HoldsTheBytesAndWastesAtMostAQuarter) {
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 40); bytes = bytes * 9 / 8 + 1) {
    const std::size_t held = bytes_of_class(size_class_of(bytes));
    EXPECT_GE(held, bytes);
    EXPECT_LE(held, std::max(bytes + bytes / 4, bytes_of_class(0))) << bytes;
  }
}

TEST(SizeClass, EveryClassIsItsOwn) {
  for (std::size_t size_class = 0; size_class < 160; ++size_class) {
    EXPECT_EQ(size_class_of(bytes_of_class(size_class)), size_class);
    EXPECT_EQ(size_class_of(bytes_of_class(size_class) + 1), size_class + 1);
  }
}

TEST(BlockPool, GivesAlignedMemoryThatCanBeWrittenToTheEnd) {
  BlockPool pool;
  std::vector<Block*> blocks;
  for (const std::size_t bytes : {1u, 63u, 64u, 65u, 1000u, 4096u, 100'000u, 3'000'000u}) {
    Block* const block = pool.take(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->data()) % kBlockAlignment, 0u);
    EXPECT_EQ(Block::of(block->data()), block);
    std::memset(block->data(), 0xff, bytes);
    blocks.push_back(block);
  }
  for (Block* block : blocks) pool.put_back(block);
}

TEST(BlockPool, AFreedBlockServesTheNextRequestOfItsClass) {
  BlockPool pool;
  Block* const first = pool.take(1000);
  pool.put_back(first);
  EXPECT_EQ(pool.idle_bytes(), bytes_of_class(size_class_of(1000)));
  Block* const second = pool.take(1001);
  EXPECT_EQ(second, first);
  EXPECT_EQ(pool.idle_bytes(), 0u);
  pool.put_back(second);
}

TEST(BlockPool, IdleMemoryCanBeGivenBack) {
  BlockPool pool;
  pool.put_back(pool.take(1u << 20));
  pool.release_idle();
  EXPECT_EQ(pool.idle_bytes(), 0u);
}

TEST(BlockPool, KeepsNoMoreIdleThanWasInUseAtTheMost) {
  BlockPool pool;
  constexpr std::size_t kOnce = std::size_t{300} << 20;  // never touched: costs addresses only
  for (std::size_t bytes = kOnce; bytes < 4 * kOnce; bytes += kOnce / 2) {
    pool.put_back(pool.take(bytes));
    EXPECT_LE(pool.idle_bytes(), bytes_of_class(size_class_of(bytes)));
  }
}

TEST(BlockPool, WhatNoMachineHasIsRefused) {
  BlockPool pool;
  EXPECT_EQ(pool.take(std::size_t{1} << 48), nullptr);  // more than there are addresses
  EXPECT_EQ(pool.take(~std::size_t{0}), nullptr);
}

TEST(BlockPool, ThreadsNeverGetTheSameBlock) {
  BlockPool pool;
  const auto churn = [&](unsigned char mark) {
    for (int i = 0; i < 2000; ++i) {
      Block* const block = pool.take(512);
      std::memset(block->data(), mark, 512);
      std::this_thread::yield();
      const auto* bytes = static_cast<const unsigned char*>(block->data());
      EXPECT_TRUE(bytes[0] == mark && bytes[511] == mark);
      pool.put_back(block);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned char i = 1; i <= 4; ++i) threads.emplace_back(churn, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lockstep::measure
