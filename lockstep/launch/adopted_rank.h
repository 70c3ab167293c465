// A rank that is mpirun's child, known to us by its process number, which it reports or the kernel tells.
#pragma once

#include <sys/types.h>

#include <optional>

#include "lockstep/base/unique_fd.h"
#include "lockstep/launch/exit_status.h"
#include "lockstep/launch/poll_set.h"

namespace lockstep::launch {

class AdoptedRank {
 public:
  void started(pid_t pid);
  void left_with(int code) { code_ = code; }
  // It was started and is gone, and nobody has seen it.
  void lost() { lost_ = true; }

  bool has_started() const { return pid_ > 0; }
  bool ended() const { return ended_; }
  bool stopped() const;
  // Whether the process is gone, seen from the kernel; mark_ended() makes it final.
  bool is_gone() const;
  void mark_ended() { ended_ = true; }
  ExitStatus status() const;

  void watch(PollSet& polls) const;
  // To its process group when it leads one, else to itself.
  void signal(int signal_number) const;

 private:
  pid_t pid_ = -1;
  base::UniqueFd pidfd_;
  std::optional<int> code_;  // of an exit it announced
  bool lost_ = false;
  bool ended_ = false;
};

}  // namespace lockstep::launch
