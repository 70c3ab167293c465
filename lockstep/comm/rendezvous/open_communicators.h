// The communicators a rank has open, so that the control thread can abort them all. A communicator is known
// here from when it is opened, split off or duplicated until its last operation is over.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

class OpenCommunicators {
 public:
  // Wraps a communicator so that it is known here. This object must outlive it.
  std::unique_ptr<Communicator> track(std::unique_ptr<Communicator> opened);

  // From any thread. Communicators that are tracked later are aborted at once.
  void abort_all(const std::string& reason);

  // For the wrapper.
  void add(Communicator& communicator);
  void remove(Communicator& communicator);

 private:
  std::mutex mutex_;
  std::set<Communicator*> open_;
  std::optional<std::string> aborted_because_;
};

}  // namespace lockstep::comm
