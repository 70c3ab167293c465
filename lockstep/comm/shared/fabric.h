// The memory under a shared channel: where its control block is, which buffers other ranks can reach, and how
// a new group gets memory of its own. `local` has one address space and reaches everything; `shm` maps memory
// of its own making.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "lockstep/comm/buffer.h"
#include "lockstep/comm/shared/control_block.h"
#include "lockstep/comm/shared/hands.h"

namespace lockstep::comm::shared {

// What one rank hands to another so that it can map the same memory. Meaningful to the fabric that made it.
using Invitation = std::array<std::byte, 16>;

class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual std::string_view name() const = 0;  // of backend and link
  virtual std::byte* control() const = 0;

  virtual Address address_of(const Buffer& buffer) const = 0;
  // The memory at a reachable address that `rank` gave, as this rank sees it.
  virtual std::byte* resolve(int rank, Address address) const = 0;
  // What touches buffers on a device; null where those cannot be reached. Only of a fabric whose ranks reach
  // everything.
  virtual Hands* device_hands() const { return nullptr; }
  // False when the rank's process has ended.
  virtual bool alive(int rank) const = 0;

  // A new group: one rank creates and invites, the others accept. The creator keeps `made` until all have
  // accepted.
  virtual std::unique_ptr<Fabric> create(int world) const = 0;
  virtual Invitation invitation() const = 0;
  virtual std::unique_ptr<Fabric> accept(const Invitation& invitation, int rank, int world) const = 0;

  // Memory for `world` buffers that every rank of the group reaches: one rank creates a segment, the others
  // open it.
  virtual Invitation create_segment(std::size_t bytes) = 0;
  virtual void open_segment(const Invitation& invitation, std::size_t bytes) = 0;
  // This rank's buffer in the segment opened last, once every rank has opened it.
  virtual Allocation claim_segment() = 0;
};

}  // namespace lockstep::comm::shared
