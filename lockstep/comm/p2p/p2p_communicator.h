// The communicator of ranks that map each other's device memory: kernels of ours, on a CUDA stream.
//
// Each rank owns an arena that all others map (arena_layout.h). An operation copies what others need into the
// rank's own arena, meets the peers, and reads from theirs: in one kernel where each rank has a GPU of its
// own (block.cuh), else in phases, as kernels that never wait (phases.h). Reductions go in the order of the
// ranks, so results have the same bits on all ranks and in all runs, the same as backend shm's. Wire bytes
// are exact (plan.h). peer_wait is measured by the kernels: the time from when this rank was ready until all
// had come.
#pragma once

#include <memory>
#include <string>

#include "lockstep/comm/cuda/stream_communicator.h"
#include "lockstep/comm/p2p/arenas.h"
#include "lockstep/comm/p2p/p2p_link.h"
#include "lockstep/comm/p2p/plan.h"

namespace lockstep::comm::p2p {

class P2pCommunicator : public StreamCommunicator {
 public:
  // Collective. `process` is this process's own number (PeerFacts).
  P2pCommunicator(StreamPlace place, std::uint64_t process, base::Deadline deadline);
  ~P2pCommunicator() override;

  std::string_view link() const override { return "p2p"; }
  std::uint64_t device_bytes() const override { return arenas_.bytes(); }

 protected:
  void issue(const Operation& operation, Flight& flight) override;
  measure::Movement movement_of(const Operation& operation) const override;
  std::unique_ptr<Communicator> open_at(StreamPlace place, base::Deadline deadline) const override;

 private:
  P2pCommunicator(StreamPlace place, std::uint64_t process, std::shared_ptr<P2pLink> words,
                  base::Deadline deadline);
  Plan plan_of(const Operation& operation) const;
  Task task_for(const Operation& operation, const Plan& plan) const;
  void issue_phases(const Task& task, const Plan& plan, const KernelChoice& choice);
  void wait_before(const Phase& phase, const Task& task);
  void copy_alone(const Operation& operation);
  void share_words();
  void abandon() noexcept;
  bool stream_is_idle() noexcept;

  const std::uint64_t process_;
  std::shared_ptr<P2pLink> words_;
  Arenas arenas_;
};

}  // namespace lockstep::comm::p2p
