// The pure parts of the protocol: words, cache, table, fusion plans, stall inspection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/parallel/horovod/cycle_words.h"
#include "lockstep/parallel/horovod/fusion.h"
#include "lockstep/parallel/horovod/negotiation_table.h"
#include "lockstep/parallel/horovod/response_cache.h"
#include "lockstep/parallel/horovod/stall_inspector.h"

namespace lockstep::parallel::horovod {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

TEST(CycleWords, HoldRequestsFlagsAndOneBitForEachPosition) {
  EXPECT_EQ(words_per_rank(0), 1u);
  EXPECT_EQ(words_per_rank(64), 2u);
  EXPECT_EQ(words_per_rank(65), 3u);
  std::vector<std::uint64_t> memory(words_per_rank(130), ~std::uint64_t{0});
  CycleWords words(memory);
  words.clear();
  EXPECT_FALSE(words.wants_pause() || words.has_news());
  words.want_pause();
  words.set_requests(7);
  words.set(0);
  words.set(129);
  EXPECT_EQ(words.requests(), 7u);
  EXPECT_TRUE(words.wants_pause());
  EXPECT_FALSE(words.has_news());
  words.announce_news();
  EXPECT_TRUE(words.has_news());
  EXPECT_TRUE(words.has(0) && words.has(129));
  EXPECT_FALSE(words.has(1) || words.has(128));
}

TEST(ResponseCache, GivesPositionsInTheOrderOfTheAnswers) {
  ResponseCache cache(5, 1024);
  EXPECT_EQ(cache.positions(), 5u);
  cache.put(3);
  cache.put(0);
  cache.put(3);
  EXPECT_EQ(cache.used(), 2u);
  EXPECT_EQ(cache.position_of(3), 0u);
  EXPECT_EQ(cache.position_of(0), 1u);
  EXPECT_EQ(cache.tensor_at(1), 0u);
  EXPECT_FALSE(cache.position_of(4).has_value());
}

TEST(ResponseCache, KeepsWhatItHasWhenItIsFull) {
  ResponseCache cache(5, 2);
  for (std::size_t tensor = 0; tensor < 5; ++tensor) cache.put(tensor);
  EXPECT_EQ(cache.used(), 2u);
  EXPECT_TRUE(cache.position_of(1).has_value());
  EXPECT_FALSE(cache.position_of(2).has_value());
}

TEST(ResponseCache, OfNoCapacityKeepsNothing) {
  ResponseCache cache(3, 0);
  cache.put(1);
  EXPECT_EQ(cache.positions(), 0u);
  EXPECT_FALSE(cache.position_of(1).has_value());
}

std::vector<TensorFacts> three_tensors() {
  return {
      {"a", 40, comm::ElementType::f32}, {"b", 8, comm::ElementType::f32}, {"c", 4, comm::ElementType::f32}};
}

Request request_for(std::uint32_t tensor) {
  return {tensor, static_cast<std::uint32_t>(comm::ElementType::f32), three_tensors()[tensor].bytes};
}

TEST(NegotiationTable, ATensorIsReadyWhenTheLastRankHasAskedForIt) {
  const auto tensors = three_tensors();
  NegotiationTable table(tensors, 2);
  table.add(0, request_for(0));
  table.add(0, request_for(1));
  table.add(0, request_for(2));
  EXPECT_THAT(table.take_ready(), IsEmpty());
  table.add(1, request_for(2));
  table.add(1, request_for(0));
  EXPECT_THAT(table.take_ready(), ElementsAre(2, 0));
  EXPECT_THAT(table.take_ready(), IsEmpty());
  EXPECT_THAT(table.waiting(), ElementsAre(Waiting{1, {1}}));
}

TEST(NegotiationTable, ForgetsATensorThatWasReadySoThatTheNextStepMayAskAgain) {
  const auto tensors = three_tensors();
  NegotiationTable table(tensors, 1);
  for (int step = 0; step < 2; ++step) {
    table.add(0, request_for(1));
    EXPECT_THAT(table.take_ready(), ElementsAre(1));
  }
}

TEST(NegotiationTable, RefusesATensorThatIsUnknownAnotherSizeOrAskedForTwice) {
  const auto tensors = three_tensors();
  NegotiationTable table(tensors, 2);
  EXPECT_THROW(table.add(1, {3, 0, 4}), base::CommError);
  EXPECT_THROW(table.add(1, {0, 0, 44}), base::CommError);
  table.add(1, request_for(0));
  EXPECT_THROW(table.add(1, request_for(0)), base::CommError);
}

TEST(Fusion, NeighboursAreFusedUntilTheNextDoesNotFit) {
  const std::vector<std::uint64_t> bytes = {10, 20, 30, 100, 5, 5};
  const std::vector<std::size_t> ready = {4, 0, 1, 2, 3, 5};
  EXPECT_THAT(plan_fusion(ready, bytes, 40),
              ElementsAre(FusedGroup{4, 0, 1}, FusedGroup{2}, FusedGroup{3}, FusedGroup{5}));
  EXPECT_THAT(plan_fusion(ready, bytes, 1), ::testing::SizeIs(6));
  EXPECT_THAT(plan_fusion(ready, bytes, 1000), ElementsAre(FusedGroup{4, 0, 1, 2, 3, 5}));
  EXPECT_THAT(plan_fusion({}, bytes, 40), IsEmpty());
}

TEST(Fusion, TheBufferHoldsTheLargestPlanAndNoMoreThanEverything) {
  const std::vector<std::uint64_t> bytes = {10, 20, 100};
  EXPECT_EQ(fusion_buffer_bytes(bytes, 40), 100u);
  EXPECT_EQ(fusion_buffer_bytes(bytes, 120), 120u);
  EXPECT_EQ(fusion_buffer_bytes(bytes, 1000), 130u);
}

TEST(StallInspector, WarnsOnceAndThenFindsTheTensorOverdue) {
  StallInspector inspector({2s, 5s}, 3);
  const base::TimePoint begin = base::now();
  const std::vector<Waiting> waiting = {{1, {1}}};
  inspector.update(waiting, begin);
  EXPECT_THAT(inspector.to_warn_of(begin + 1s), IsEmpty());
  inspector.update(waiting, begin + 2s);
  EXPECT_THAT(inspector.to_warn_of(begin + 2s), ElementsAre(Waiting{1, {1}}));
  EXPECT_THAT(inspector.to_warn_of(begin + 3s), IsEmpty());
  EXPECT_THAT(inspector.overdue(begin + 4s), IsEmpty());
  EXPECT_THAT(inspector.overdue(begin + 5s), ElementsAre(Waiting{1, {1}}));
}

TEST(StallInspector, BeginsAnewWhenATensorHasComeInBetween) {
  StallInspector inspector({2s, 5s}, 3);
  const base::TimePoint begin = base::now();
  const std::vector<Waiting> waiting = {{1, {1}}};
  inspector.update(waiting, begin);
  inspector.update({}, begin + 4s);
  inspector.update(waiting, begin + 4s);
  EXPECT_THAT(inspector.to_warn_of(begin + 5s), IsEmpty());
  EXPECT_THAT(inspector.overdue(begin + 8s), IsEmpty());
  EXPECT_THAT(inspector.overdue(begin + 9s), ::testing::SizeIs(1));
}

TEST(StallInspector, NeverWarnsWhenItIsToldSo) {
  StallInspector inspector({0s, 5s}, 1);
  const base::TimePoint begin = base::now();
  const std::vector<Waiting> waiting = {{0, {0}}};
  inspector.update(waiting, begin);
  EXPECT_THAT(inspector.to_warn_of(begin + 100s), IsEmpty());
}

TEST(StallInspector, NamesRanksAndTensorsTogether) {
  const auto tensors = three_tensors();
  const std::vector<Waiting> waiting = {{0, {1}}, {1, {2, 3}}, {2, {1}}};
  EXPECT_EQ(missing_text(waiting, tensors),
            "rank 1 has not produced a, c; ranks 2 and 3 have not produced b");
}

}  // namespace
}  // namespace lockstep::parallel::horovod
