// A channel over memory that all ranks see. Three ways to carry out a collective, chosen alike by every rank:
//   one-shot  small contributions are copied into the rank's slot; one phase later everybody takes what it
//   needs direct    the buffers themselves can be reached: they are read and written in place staged private
//   buffers pass through staging areas piece by piece, the stages overlapping
// Reductions combine ranks in the order 0, 1, 2, ... in all three, so the bits do not depend on which is
// taken.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lockstep/comm/channel.h"
#include "lockstep/comm/shared/control_block.h"
#include "lockstep/comm/shared/fabric.h"
#include "lockstep/comm/shared/hands.h"
#include "lockstep/comm/shared/sync.h"

namespace lockstep::comm::shared {

class SharedChannel : public Channel {
 public:
  // Collective: returns when every rank of the group has come. Throws CommError naming the missing ones at
  // the deadline.
  SharedChannel(std::unique_ptr<Fabric> fabric, Group group, base::Deadline deadline);

  const Group& group() const override { return group_; }
  std::string_view backend() const override { return fabric_->name(); }
  std::string_view link() const override { return fabric_->name(); }
  measure::Movement execute(const Operation& operation, base::Deadline deadline) override;
  Allocation allocate(std::size_t bytes, base::Deadline deadline) override;
  void copy(const Buffer& to, const Buffer& from) override;
  std::unique_ptr<Channel> split(int colour, int key, base::Deadline deadline) override;
  void abort() noexcept override;

 private:
  friend class Exchange;  // carries out one operation
  void check_still_possible() const;
  std::optional<int> lost_rank() const;
  [[noreturn]] void fail_timed_out() const;
  std::string running() const;
  void choose_spins();
  Hands& hands_for(bool on_device);

  std::unique_ptr<Fabric> fabric_;
  HostHands host_hands_;
  Group group_;
  ControlBlock block_;
  std::uint64_t sequence_ = 0;          // operations begun
  std::uint32_t phase_ = 0;             // phases this rank has reached
  const Operation* running_ = nullptr;  // while it is carried out, for messages
  base::TimePoint give_up_at_;
  Waiter waiter_;
};

}  // namespace lockstep::comm::shared
