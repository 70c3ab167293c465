// Tests of the bandwidths of a run: the right rows, and peer wait left out.
#include "lockstep/measure/bandwidth.h"

#include <gtest/gtest.h>

namespace lockstep::measure {
namespace {

using std::chrono::seconds;

Movement taking(base::Nanoseconds busy, base::Nanoseconds peer_wait) {
  Movement movement;
  movement.busy = busy;
  movement.peer_wait = peer_wait;
  return movement;
}

TEST(CollectiveBandwidth, IsPayloadOverBusyTimeWithoutPeerWait) {
  Ledger ledger;
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 1000, taking(seconds(5), seconds(3)));
  ledger.add(Purpose::gradient, Collective::all_reduce, "tcp", 3000, taking(seconds(3), seconds(1)));
  const auto bandwidth = collective_bandwidth(ledger.rows(), Purpose::gradient, 4);
  ASSERT_TRUE(bandwidth.has_value());
  EXPECT_EQ(bandwidth->collective, Collective::all_reduce);
  EXPECT_DOUBLE_EQ(bandwidth->algorithm, 1000);
  EXPECT_DOUBLE_EQ(bandwidth->bus, 1500);  // 2 x 3 / 4
}

TEST(CollectiveBandwidth, IsThatOfTheCollectiveThatMovedTheMost) {
  Ledger ledger;
  ledger.add(Purpose::gradient, Collective::broadcast, "shm", 10, taking(seconds(1), seconds(0)));
  ledger.add(Purpose::gradient, Collective::reduce_scatter, "shm", 100, taking(seconds(1), seconds(0)));
  ledger.add(Purpose::parameter, Collective::all_gather, "shm", 900, taking(seconds(1), seconds(0)));
  const auto bandwidth = collective_bandwidth(ledger.rows(), Purpose::gradient, 2);
  ASSERT_TRUE(bandwidth.has_value());
  EXPECT_EQ(bandwidth->collective, Collective::reduce_scatter);
  EXPECT_DOUBLE_EQ(bandwidth->bus, 50);
}

TEST(CollectiveBandwidth, IsUnknownWithoutPayloadOrTime) {
  Ledger ledger;
  EXPECT_FALSE(collective_bandwidth(ledger.rows(), Purpose::gradient, 2).has_value());
  ledger.add(Purpose::gradient, Collective::barrier, "shm", 0, taking(seconds(1), seconds(0)));
  EXPECT_FALSE(collective_bandwidth(ledger.rows(), Purpose::gradient, 2).has_value());
  ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 8, taking(seconds(1), seconds(1)));
  EXPECT_FALSE(collective_bandwidth(ledger.rows(), Purpose::gradient, 2).has_value());
}

}  // namespace
}  // namespace lockstep::measure
