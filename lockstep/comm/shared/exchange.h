// One operation of a shared channel while it is carried out: what this rank put in and wants out, what the
// others said of theirs, and the count of what was moved.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "lockstep/comm/shared/shared_channel.h"

namespace lockstep::comm::shared {

class Exchange {
 public:
  Exchange(SharedChannel& channel, const Operation& operation);

  // Carries the operation out and says what it moved.
  measure::Movement run();

 private:
  // -- exchange.cc: arriving, agreeing, choosing the way
  void announce();
  void arrive();
  void require_agreement() const;
  bool fits_one_shot() const;
  bool reachable() const;
  bool on_device() const;
  void sync();

  // -- one_shot.cc
  void stage_contribution();
  void take_from_contributions();
  // -- direct.cc
  void run_direct();
  void move_directly();
  void reduce_directly();
  // -- staged.cc
  void run_staged();
  void reduce_staged(bool everyone_receives);
  void reduce_scatter_staged();
  void spread_staged();  // all_gather, gather, broadcast
  void scatter_staged();
  void pipeline(std::size_t pieces, const std::function<void(std::size_t)>& stage,
                const std::function<void(std::size_t)>& consume);
  // -- mailbox.cc
  void send();
  void receive();

  int rank() const { return channel_.group_.rank; }
  int world() const { return channel_.group_.world; }
  bool is_root() const { return rank() == operation_.root; }
  unsigned parity() const { return static_cast<unsigned>(channel_.sequence_ % 2); }
  ControlBlock& block() { return channel_.block_; }
  const Descriptor& descriptor(int of_rank) const;
  Part part(int of_rank) const { return part_of(operation_, of_rank, world()); }
  std::byte* input() const { return static_cast<std::byte*>(operation_.input.data); }
  std::byte* output() const { return static_cast<std::byte*>(operation_.output.data); }

  // Copies between this rank's memory and another's (or its own: not counted).
  void copy_from(int of_rank, std::byte* to, const std::byte* from, std::size_t bytes);
  void copy_own(std::byte* to, const std::byte* from, std::size_t bytes);
  // Counts bytes of another rank's memory that a reduction reads or writes.
  void count(std::size_t bytes) {
    movement_.wire_bytes += bytes;
    movement_.messages += bytes > 0 ? 1 : 0;
  }

  SharedChannel& channel_;
  const Operation& operation_;
  Hands& hands_;
  measure::Movement movement_;
};

// The cache-line-aligned part of `bytes` that rank `rank` of `world` works on.
Part work_share(std::size_t bytes, int rank, int world);

}  // namespace lockstep::comm::shared
