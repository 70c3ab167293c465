// Memory shared between processes of one host. It comes from memfd_create: it has no name, so nothing is left
// behind by a crash, and it is not limited by the size of the shared-memory file system. A process that knows
// the creator's process and descriptor number maps it through /proc.
//
// Each rank holds a lock on one byte of the control block's file. The kernel releases it when the process
// ends, however it ends, so others can tell.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/shared/fabric.h"

namespace lockstep::comm {

// A mapping of a shared file; unmapped when it goes.
class SharedMapping {
 public:
  // Creates memory of this size; throws CommError with the cause when there is not enough.
  static std::shared_ptr<SharedMapping> create(std::size_t bytes);
  // Maps what another process created.
  static std::shared_ptr<SharedMapping> open(const shared::Invitation& invitation, std::size_t bytes);
  ~SharedMapping();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int fd() const { return fd_.get(); }
  shared::Invitation invitation() const;
  // Gives pages to a range now, so that their lack is an error here and not a signal later.
  void reserve(std::size_t offset, std::size_t bytes) const;
  void close_file() { fd_.reset(); }

 private:
  SharedMapping(base::UniqueFd fd, std::size_t bytes);
  base::UniqueFd fd_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// One byte of a shared file for each rank, locked by the rank while its process lives.
class LifeLocks {
 public:
  // Locks this rank's byte, through an open file of its own: its locks are this rank's alone.
  LifeLocks(const SharedMapping& mapping, int rank);
  // Whether the byte of a rank that has come here is still locked. A rank that never came has no lock.
  bool alive(int rank) const;

 private:
  base::UniqueFd fd_;
};

class ShmFabric : public shared::Fabric {
 public:
  // The creator's constructor.
  ShmFabric(int rank, int world);
  // The invited one's.
  ShmFabric(const shared::Invitation& invitation, int rank, int world);

  std::string_view name() const override { return "shm"; }
  std::byte* control() const override { return control_->data(); }
  shared::Address address_of(const Buffer& buffer) const override;
  std::byte* resolve(int rank, shared::Address address) const override;
  bool alive(int rank) const override;

  std::unique_ptr<Fabric> create(int world) const override;
  shared::Invitation invitation() const override { return control_->invitation(); }
  std::unique_ptr<Fabric> accept(const shared::Invitation& invitation, int rank, int world) const override;
  shared::Invitation create_segment(std::size_t bytes) override;
  void open_segment(const shared::Invitation& invitation, std::size_t bytes) override;
  Allocation claim_segment() override;

 private:
  // One buffer per rank, `stride_bytes` apart. Shared with the Allocation that owns this rank's buffer.
  struct Segment {
    std::shared_ptr<SharedMapping> mapping;
    std::size_t stride_bytes = 0;
    bool holds(const Buffer& buffer, int rank) const;  // all of it
  };
  void add_segment(std::shared_ptr<SharedMapping> mapping, std::size_t bytes);

  int rank_;
  int world_;
  std::shared_ptr<SharedMapping> control_;
  LifeLocks locks_;
  std::vector<std::weak_ptr<Segment>> segments_;  // by number, the same on all ranks; empty ones were freed
  std::shared_ptr<Segment> unclaimed_;
  std::size_t unclaimed_bytes_ = 0;
};

}  // namespace lockstep::comm
