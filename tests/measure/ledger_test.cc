// Tests of the ledger: what is added is in its sums, once, under its cause, whichever thread added it.
#include "lockstep/measure/ledger.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace lockstep::measure {
namespace {

using base::Nanoseconds;

Movement movement_of(std::uint64_t wire_bytes) {
  Movement movement;
  movement.wire_bytes = wire_bytes;
  movement.messages = 2;
  movement.busy = Nanoseconds(30);
  movement.peer_wait = Nanoseconds(10);
  return movement;
}

TEST(Purpose, NamesAreDifferent) {
  std::set<std::string_view> names;
  for (int i = 0; i < kPurposeCount; ++i) names.insert(name_of(static_cast<Purpose>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kPurposeCount));
  EXPECT_EQ(name_of(Purpose::gradient), "gradient");
}

TEST(Ledger, IsEmptyAtFirst) {
  EXPECT_TRUE(Ledger().rows().empty());
}

TEST(Ledger, SumsWhatHasTheSameCause) {
  Ledger ledger;
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 100, movement_of(40));
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 200, movement_of(60));
  const auto rows = ledger.rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].purpose, Purpose::gradient);
  EXPECT_EQ(rows[0].collective, Collective::all_reduce);
  EXPECT_EQ(rows[0].link, "shm");
  EXPECT_EQ(rows[0].operations, 2u);
  EXPECT_EQ(rows[0].payload_bytes, 300u);
  EXPECT_EQ(rows[0].wire_bytes, 100u);
  EXPECT_EQ(rows[0].messages, 4u);
  EXPECT_EQ(rows[0].busy, Nanoseconds(60));
  EXPECT_EQ(rows[0].peer_wait, Nanoseconds(20));
}

TEST(Ledger, KeepsCausesApart) {
  Ledger ledger;
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 1, {});
  ledger.add(Purpose::metric, Collective::all_reduce, "shm", 2, {});
  ledger.add(Purpose::gradient, Collective::broadcast, "shm", 4, {});
  ledger.add(Purpose::gradient, Collective::all_reduce, "tcp", 8, {});
  const auto rows = ledger.rows();
  ASSERT_EQ(rows.size(), 4u);
  std::uint64_t payload_bytes = 0;
  for (const LedgerRow& row : rows) {
    EXPECT_EQ(row.operations, 1u);
    payload_bytes += row.payload_bytes;
  }
  EXPECT_EQ(payload_bytes, 15u);
}

TEST(Ledger, RowsComeInTheOrderOfLinkPurposeAndCollective) {
  Ledger ledger;
  ledger.add(Purpose::control, Collective::barrier, "shm", 0, {});
  ledger.add(Purpose::gradient, Collective::broadcast, "shm", 0, {});
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 0, {});
  const auto rows = ledger.rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].collective, Collective::all_reduce);
  EXPECT_EQ(rows[1].collective, Collective::broadcast);
  EXPECT_EQ(rows[2].purpose, Purpose::control);
}

TEST(Ledger, ABarrierWithoutBytesIsARow) {
  Ledger ledger;
  ledger.add(Purpose::control, Collective::barrier, "tcp", 0, {});
  EXPECT_EQ(ledger.rows().size(), 1u);
}

TEST(Ledger, ARowWithOneEstimateIsEstimated) {
  Ledger ledger;
  Movement guessed = movement_of(8);
  guessed.estimated = true;
  ledger.add(Purpose::gradient, Collective::all_reduce, "mpi", 8, guessed);
  ledger.add(Purpose::gradient, Collective::all_reduce, "mpi", 8, movement_of(8));
  ledger.add(Purpose::metric, Collective::all_reduce, "mpi", 8, movement_of(8));
  const auto rows = ledger.rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].estimated);
  EXPECT_FALSE(rows[1].estimated);
}

TEST(Ledger, ManyLinksKeepTheirRows) {
  Ledger ledger;
  constexpr int kLinks = 40;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < kLinks; ++i)
      ledger.add(Purpose::input, Collective::send, "link" + std::to_string(i), static_cast<std::uint64_t>(i),
                 {});
  const auto rows = ledger.rows();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kLinks));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].link, "link" + std::to_string(i));
    EXPECT_EQ(rows[i].payload_bytes, 2 * i);
  }
}

TEST(Ledger, ClearForgetsEverything) {
  Ledger ledger;
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 1, {});
  ledger.clear();
  EXPECT_TRUE(ledger.rows().empty());
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 5, {});
  ASSERT_EQ(ledger.rows().size(), 1u);
  EXPECT_EQ(ledger.rows()[0].payload_bytes, 5u);
}

TEST(Ledger, TotalsAreTheSumsOfTheRows) {
  Ledger ledger;
  EXPECT_EQ(ledger.totals().busy, Nanoseconds(0));
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 1, movement_of(1));
  ledger.add(Purpose::gradient, Collective::all_reduce, "tcp", 1, movement_of(1));
  ledger.add(Purpose::metric, Collective::broadcast, "shm", 1, movement_of(1));
  const LedgerTotals totals = ledger.totals();
  EXPECT_EQ(totals.busy, Nanoseconds(90));
  EXPECT_EQ(totals.peer_wait, Nanoseconds(30));
  EXPECT_EQ(totals.busy_by_purpose[static_cast<std::size_t>(Purpose::gradient)], Nanoseconds(60));
  EXPECT_EQ(totals.busy_by_purpose[static_cast<std::size_t>(Purpose::metric)], Nanoseconds(30));
  ledger.clear();
  EXPECT_EQ(ledger.totals().busy, Nanoseconds(0));
}

class Heard final : public MovementListener {
 public:
  void on_movement(const OperationFacts& facts, const Movement& movement, base::TimePoint end) override {
    operations.push_back(facts);
    movements.push_back(movement);
    ends.push_back(end);
  }
  std::vector<OperationFacts> operations;
  std::vector<Movement> movements;
  std::vector<base::TimePoint> ends;
};

TEST(Ledger, TellsTheListenerAboutEveryOperationAndWhenItEnded) {
  Ledger ledger;
  Heard heard;
  ledger.add(Purpose::control, Collective::barrier, "shm", 0, {});
  ledger.listen(heard);
  const auto before = base::now();
  ledger.add({.purpose = Purpose::gradient,
              .collective = Collective::all_reduce,
              .link = "shm",
              .payload_bytes = 8,
              .element_type = "f32",
              .input_elements = 2,
              .output_elements = 2,
              .ranks = 4,
              .channel = 1},
             movement_of(12));
  ASSERT_EQ(heard.operations.size(), 1u);
  EXPECT_EQ(heard.operations[0].purpose, Purpose::gradient);
  EXPECT_EQ(heard.operations[0].element_type, "f32");
  EXPECT_EQ(heard.operations[0].ranks, 4);
  EXPECT_EQ(heard.operations[0].channel, 1);
  EXPECT_EQ(heard.movements[0].wire_bytes, 12u);
  EXPECT_GE(heard.ends[0], before);
  EXPECT_LE(heard.ends[0], base::now());
  EXPECT_EQ(ledger.rows().size(), 2u);
}

TEST(Ledger, HasOneListenerAtMost) {
  Ledger ledger;
  Heard heard;
  ledger.listen(heard);
  EXPECT_THROW(ledger.listen(heard), std::logic_error);
}

TEST(Ledger, NumbersChannelsInTheOrderOfAsking) {
  Ledger ledger;
  EXPECT_EQ(ledger.new_channel(), 0);
  EXPECT_EQ(ledger.new_channel(), 1);
}

TEST(Ledger, LosesNothingWhenThreadsAddAtOnce) {
  Ledger ledger;
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kAdds = 5000;
  const auto add_many = [&](std::uint64_t thread) {
    const std::string own_link = "link" + std::to_string(thread);
    for (std::uint64_t i = 0; i < kAdds; ++i) {
      ledger.add(Purpose::gradient, Collective::all_reduce, "shared", 3, movement_of(2));
      ledger.add(Purpose::metric, Collective::all_reduce, own_link, 1, movement_of(1));
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(add_many, i);
  for (int i = 0; i < 100; ++i) (void)ledger.rows();  // a reader disturbs nobody
  for (std::thread& thread : threads) thread.join();

  const auto rows = ledger.rows();
  ASSERT_EQ(rows.size(), kThreads + 1);
  for (const LedgerRow& row : rows) {
    const bool shared = row.link == "shared";
    EXPECT_EQ(row.operations, shared ? kThreads * kAdds : kAdds);
    EXPECT_EQ(row.payload_bytes, shared ? 3 * kThreads * kAdds : kAdds);
    EXPECT_EQ(row.wire_bytes, shared ? 2 * kThreads * kAdds : kAdds);
  }
}

}  // namespace
}  // namespace lockstep::measure
