// The mpi backend's channel: one MPI communicator of its own.
#pragma once

#include <atomic>
#include <memory>

#include "lockstep/comm/channel.h"
#include "lockstep/comm/mpi/arrival_board.h"
#include "lockstep/comm/mpi/mpi_collectives.h"

namespace lockstep::comm {

class MpiChannel : public Channel {
 public:
  // Collective. Takes over `comm`, whose ranks must be the group's.
  MpiChannel(MPI_Comm comm, const Group& group, MpiStyle style);
  ~MpiChannel() override;

  const Group& group() const override { return group_; }
  std::string_view backend() const override { return "mpi"; }
  std::string_view link() const override;
  // MPI's calls cannot be interrupted: the deadline is kept by whoever watches the operation boards.
  measure::Movement execute(const Operation& operation, base::Deadline deadline) override;
  std::unique_ptr<Channel> split(int colour, int key, base::Deadline deadline) override;
  void abort() noexcept override;

 private:
  void run_agreed(const Operation& operation);
  MpiGroup mpi_group() const;
  measure::Movement movement_of(const Operation& operation) const;

  MPI_Comm comm_;
  Group group_;
  MpiStyle style_;
  ArrivalBoard arrivals_;
  std::atomic<bool> failed_{false};
};

}  // namespace lockstep::comm
