// What strategy dp is given besides what every strategy has: an outfit for each replica, and a way to build
// further copies of the model. The training run provides it.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/models/model.h"
#include "lockstep/parallel/compute_queue.h"

namespace lockstep::parallel {

// What one replica has of its own. Used by the replica's thread only, while that thread runs.
struct ReplicaOutfit {
  comm::Communicator* communicator = nullptr;      // its rank is the replica's number
  ComputeQueue* compute = nullptr;                 // the communicator is ordered with it
  at::Device device = at::kCPU;                    // of that queue
  measure::StepTimer* timer = nullptr;             // of replica 0: the run's
  std::shared_ptr<measure::MemoryAccount> memory;  // null: the process's own (of replica 0)
  std::vector<int> cpus;                           // that its thread may use; empty: any
};

struct ReplicaSource {
  std::vector<ReplicaOutfit> outfits;  // one a replica
  int threads = 1;                     // of each replica
  // A copy of the model for one replica, called on that replica's thread; its values do not matter.
  std::function<models::Model(int replica)> build;
  // Told which replica ended the run, and why, before that is thrown. On the training thread.
  std::function<void(int replica, const std::exception_ptr& error)> on_failure;
  // Ends what else a replica may wait in (the exchange of statistics). From any thread; must not throw.
  std::function<void()> abort_others;
};

}  // namespace lockstep::parallel
