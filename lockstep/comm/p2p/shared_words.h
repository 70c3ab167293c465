// The words of a group (RankWords) in memory of the host that all its ranks map: through them devices meet
// (phases.h), a host ends what its own device waits for, and everybody sees how far the others are. Needs no
// GPU: whoever has one pins `data()`.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lockstep/comm/operation.h"
#include "lockstep/comm/p2p/phases.h"
#include "lockstep/comm/shm/shm_fabric.h"

namespace lockstep::comm::p2p {

// Why an operation does not end.
enum class Cause {
  ended,          // the rank's process has ended
  not_submitted,  // its program has not given this operation yet
  not_reached,    // its program has, but its device did not get to it
  own_device,     // all have come, and this rank's own device does not go on
};
struct Late {
  Cause cause = Cause::own_device;
  int rank = 0;  // who is late
};

class SharedWords {
 public:
  // Makes the words of a group, as if all had read everything; the others open them by `invitation()`.
  static std::unique_ptr<SharedWords> create(int rank, int world);
  static std::unique_ptr<SharedWords> open(const std::string& invitation, int rank, int world);

  std::string invitation() const;  // text for the store
  // When all have opened them: the memory goes with the last rank that has it mapped.
  void close_file() { mapping_->close_file(); }
  std::byte* data() const { return mapping_->data(); }
  std::size_t bytes() const { return mapping_->bytes(); }

  // What this rank's host says of every operation that needs a kernel: it is on the stream; it has ended.
  void submitted(const Operation& operation);
  void completed(const Operation& operation);
  // Ends every wait of this rank's stream for a meeting, once. A kernel that runs meanwhile may put a word
  // back: it is to be done again until nothing waits any more.
  void release() noexcept;

  // Who keeps this rank's oldest operation from ending: as the devices say, by the meeting that is waited
  // for; or, as the hosts' counts say of `peer`, for which a kernel waited.
  Late late_in_phases(const Operation& operation) const;
  Late late_peer(const Operation& operation, int peer) const;
  // "rank 0 has submitted 12, begun 12, ended 11; rank 1 ..."; collectives only.
  std::string progress(bool in_phases) const;

 private:
  SharedWords(std::shared_ptr<SharedMapping> mapping, int rank, int world);
  RankWords& words(int rank) const;
  std::optional<int> missing_peer(int rank) const;
  Late late_in(int peer, std::uint32_t number) const;

  int rank_;
  int world_;
  std::shared_ptr<SharedMapping> mapping_;
  LifeLocks locks_;
  std::uint32_t sent_[kMostRanks] = {};  // messages that have ended, by peer
  std::uint32_t received_[kMostRanks] = {};
};

}  // namespace lockstep::comm::p2p
