#include "lockstep/comm/rendezvous/open_communicators.h"

#include <exception>

#include "lockstep/comm/wrappers/forwarding.h"

namespace lockstep::comm {
namespace {

class TrackedCommunicator : public ForwardingCommunicator {
 public:
  TrackedCommunicator(std::unique_ptr<Communicator> opened, OpenCommunicators& all)
      : ForwardingCommunicator(std::move(opened)), all_(all), exceptions_(std::uncaught_exceptions()) {
    all_.add(inner());
  }

  ~TrackedCommunicator() override {
    // Operations still in flight hold up destruction. When an error is unwinding this rank they may wait for
    // peers in vain, so they are aborted; else they end while abort_all() can still reach them.
    if (std::uncaught_exceptions() > exceptions_) {
      inner().abort("this rank failed");
    } else {
      drain();
    }
    all_.remove(inner());
  }

 protected:
  std::unique_ptr<Communicator> wrap(std::unique_ptr<Communicator> made) override {
    return all_.track(std::move(made));
  }

 private:
  void drain() noexcept {
    try {
      queue().drain();
    } catch (const std::exception&) {
      // Whoever waits for the failed work is told; a destructor is not the place.
    }
  }

  OpenCommunicators& all_;
  int exceptions_;
};

}  // namespace

std::unique_ptr<Communicator> OpenCommunicators::track(std::unique_ptr<Communicator> opened) {
  return std::make_unique<TrackedCommunicator>(std::move(opened), *this);
}

void OpenCommunicators::abort_all(const std::string& reason) {
  // The lock is held throughout: no communicator goes while it is being aborted.
  const std::lock_guard lock(mutex_);
  aborted_because_ = reason;
  for (Communicator* communicator : open_) communicator->abort(reason);
}

void OpenCommunicators::add(Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  open_.insert(&communicator);
  if (aborted_because_) communicator.abort(*aborted_because_);
}

void OpenCommunicators::remove(Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  open_.erase(&communicator);
}

}  // namespace lockstep::comm
