#include "lockstep/launch/ending.h"

#include <signal.h>

namespace lockstep::launch {

void Ending::begin(base::Nanoseconds moment, base::Nanoseconds grace) {
  if (begun()) return;
  grace_ = grace;
  due_ = base::Deadline(moment);
}

// A stopped rank sees SIGTERM only when it is continued.
void Ending::terminate() {
  ranks_.signal_all(SIGTERM);
  ranks_.signal_all(SIGCONT);
  next_ = Step::kill;
  due_ = base::Deadline(grace_);
}

// Repeated after another grace period: a rank may have been starting.
void Ending::kill_now() {
  ranks_.signal_all(SIGKILL);
  next_ = Step::kill;
  due_ = base::Deadline(grace_);
}

void Ending::advance() {
  if (!due_ || !due_->passed()) return;
  if (next_ == Step::terminate)
    terminate();
  else
    kill_now();
}

}  // namespace lockstep::launch
