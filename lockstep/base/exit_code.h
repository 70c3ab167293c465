// The exit codes of every program of ours, as docs/errors.md documents them.
#pragma once

namespace lockstep::base {

enum class ExitCode : int {
  done = 0,
  run_failed = 1,
  usage = 2,
  bad_configuration = 3,  // a bad configuration or bad data
  missing = 4,            // a backend or device is missing
  threshold_missed = 5,
  verification_failed = 6,  // wrong sums, replicas diverged
  timed_out = 124,
  signal_base = 128,  // plus the signal's number
};

}  // namespace lockstep::base
