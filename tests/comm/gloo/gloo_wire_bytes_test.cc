// The ledger's wire bytes against what the kernel says crossed the cable between two network namespaces.
//
// For one operation a rank puts onto the interface, with W wire bytes in M messages sent and W', M' received
// (docs/algorithms.md derives it):
//   at least  W + 96 M + 48 M'              the bytes themselves and gloo's records (framing.h)
//   at most   that + 66 (P + P') + 1514     P = ceil(W/1448) + 2M + M' packets sent at most: every full
//   segment
//                                           and every record in one of its own; P' likewise the packets
//                                           received, each acknowledged by one. 66 bytes are the headers of
//                                           Ethernet (14), IPv4 (20) and TCP with timestamps (32); 1514 one
//                                           probe or one ARP exchange.
//   and       1592 for every segment that either kernel says it sent again (a loaded machine): the segment
//             (1514) and an acknowledgement that names it (78)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "lockstep/base/environment.h"
#include "lockstep/comm/gloo/framing.h"
#include "lockstep/comm/wrappers/recording.h"
#include "tests/comm/gloo/open_gloo.h"
#include "tests/support/exact_cases.h"
#include "tests/support/namespaces.h"

namespace lockstep::testing {
namespace {

constexpr std::uint64_t kHeaderBytes = 14 + 20 + 32;
constexpr std::uint64_t kSegmentBytes = 1500 - 20 - 32;
constexpr std::uint64_t kSlackBytes = 1514;
constexpr std::uint64_t kResentBytes = 1514 + 78;
// Delayed acknowledgements come within 40 ms.
constexpr auto kSettle = std::chrono::milliseconds(100);

struct Sent {
  std::uint64_t wire_bytes = 0;
  std::uint64_t messages = 0;
  std::uint64_t resent_segments = 0;
};

// Of all connections of this namespace: a line of names, then one of values.
std::uint64_t resent_segments() {
  std::ifstream file("/proc/thread-self/net/snmp");
  std::string names, values;
  while (std::getline(file, names) && std::getline(file, values)) {
    std::istringstream name_words(names), value_words(values);
    for (std::string name, value; name_words >> name && value_words >> value;)
      if (names.starts_with("Tcp:") && name == "RetransSegs") return std::stoull(value);
  }
  check(false, "the kernel does not say how many segments it sent again");
  return 0;
}

Sent total_of(const measure::Ledger& ledger) {
  Sent sent;
  for (const measure::LedgerRow& row : ledger.rows()) {
    sent.wire_bytes += row.wire_bytes;
    sent.messages += row.messages;
  }
  return sent;
}

std::uint64_t packets(const Sent& own, const Sent& other) {
  return (own.wire_bytes + kSegmentBytes - 1) / kSegmentBytes + 2 * own.messages + other.messages;
}

std::uint64_t least_bytes(const Sent& own, const Sent& other) {
  return own.wire_bytes + own.messages * comm::kGlooSenderBytesPerMessage +
         other.messages * comm::kGlooReceiverBytesPerMessage;
}

std::uint64_t most_bytes(const Sent& own, const Sent& other) {
  return least_bytes(own, other) + kHeaderBytes * (packets(own, other) + packets(other, own)) + kSlackBytes +
         kResentBytes * (own.resent_segments + other.resent_segments);
}

// One rank's side: runs cases and compares counters. The ranks meet through the store, which lies in files
// and puts nothing onto the cable.
class CountingRank {
 public:
  explicit CountingRank(Rank& rank) : rank_(rank) {
    comm::OpenOptions options;
    options.interface = NamespacePair::interface();
    backend_ = std::make_unique<comm::PluginBackend>("gloo", base::plugin_directory() / "backend_gloo.so");
    communicator_ = std::make_unique<comm::RecordingCommunicator>(
        backend_->open(rank.group, rank.store, options), ledger_);
    communicator_->run(comm::barrier());
  }

  void count(const ExactCase& test) {
    std::this_thread::sleep_for(kSettle);
    const InterfaceBytes before = interface_bytes(NamespacePair::interface());
    const std::uint64_t resent_before = resent_segments();
    meet();
    ledger_.clear();
    run_exact_case(test, rank_.group.rank, rank_.group.world,
                   [&](const comm::Operation& operation) { communicator_->run(operation); });
    std::this_thread::sleep_for(kSettle);
    meet();
    const InterfaceBytes after = interface_bytes(NamespacePair::interface());
    Sent own = total_of(ledger_);
    own.resent_segments = resent_segments() - resent_before;
    compare(test, own, after.sent - before.sent, after.received - before.received);
  }

 private:
  void meet() {
    rank_.store.set(fmt::format("meet/{}/{}", meetings_, rank_.group.rank), "here");
    rank_.store.get(fmt::format("meet/{}/{}", meetings_++, 1 - rank_.group.rank),
                    base::Deadline(std::chrono::seconds(60)));
  }

  Sent exchange(const Sent& own) {
    rank_.store.set(fmt::format("sent/{}/{}", meetings_, rank_.group.rank),
                    fmt::format("{} {} {}", own.wire_bytes, own.messages, own.resent_segments));
    std::istringstream text(rank_.store.get(fmt::format("sent/{}/{}", meetings_, 1 - rank_.group.rank),
                                            base::Deadline(std::chrono::seconds(60))));
    Sent other;
    text >> other.wire_bytes >> other.messages >> other.resent_segments;
    return other;
  }

  void compare(const ExactCase& test, const Sent& own, std::uint64_t sent, std::uint64_t received) {
    const Sent other = exchange(own);
    expect_between(test, "sent", sent, least_bytes(own, other), most_bytes(own, other));
    expect_between(test, "received", received, least_bytes(other, own), most_bytes(other, own));
  }

  void expect_between(const ExactCase& test, const char* direction, std::uint64_t counted,
                      std::uint64_t least, std::uint64_t most) const {
    check(counted >= least && counted <= most,
          fmt::format("{}: rank {}'s interface {} {} bytes, not between {} and {}",
                      test.describe(rank_.group.world), rank_.group.rank, direction, counted, least, most));
  }

  Rank& rank_;
  measure::Ledger ledger_;
  std::unique_ptr<comm::PluginBackend> backend_;
  std::unique_ptr<comm::Communicator> communicator_;
  int meetings_ = 0;
};

TEST(GlooWireBytesTest, AgreeWithTheInterfacesCountersForEveryCollectiveAndSize) {
  const NamespacePair namespaces;
  if (!namespaces.why_not().empty()) GTEST_SKIP() << "no network namespaces here: " << namespaces.why_not();
  expect_ranks_succeed(
      2,
      [&](Rank& rank) {
        namespaces.enter(rank.group.rank);
        CountingRank counting(rank);
        for (const ExactCase& test : exact_cases(2, false))
          if (test.type == comm::ElementType::f32 || (full_matrix() && test.unequal)) counting.count(test);
      },
      std::chrono::minutes(4));
}

}  // namespace
}  // namespace lockstep::testing
