// One hierarchy of errors. They are thrown where the trouble is found and turned into one message and an exit
// code in main. The text says what happened, to which rank and operation, the likely cause and the next step.
#pragma once

#include <stdexcept>
#include <string>

#include "lockstep/base/exit_code.h"

namespace lockstep::base {

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode exit_code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

// A flag or argument that cannot be understood.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

// A request that is understood and cannot be carried out as it stands.
struct ConfigError : Error {
  explicit ConfigError(const std::string& message) : Error(ExitCode::bad_configuration, message) {}
};

// A data file that is missing, truncated or wrong.
struct DataError : Error {
  explicit DataError(const std::string& message) : Error(ExitCode::bad_configuration, message) {}
};

// A backend or device that this machine or build does not have.
struct DeviceError : Error {
  explicit DeviceError(const std::string& message) : Error(ExitCode::missing, message) {}
};

// A file or directory of ours that cannot be read or written.
struct StoreError : Error {
  explicit StoreError(const std::string& message) : Error(ExitCode::run_failed, message) {}
};

// A result that was checked and is wrong.
struct VerificationError : Error {
  explicit VerificationError(const std::string& message) : Error(ExitCode::verification_failed, message) {}
};

// A figure that was measured and misses the threshold the user set.
struct ThresholdError : Error {
  explicit ThresholdError(const std::string& message) : Error(ExitCode::threshold_missed, message) {}
};

// A communication that cannot be completed. The kind says who is to blame: a timeout names the ranks that did
// not arrive, `collateral` marks a rank that only ends because another one failed first.
class CommError : public Error {
 public:
  enum class Kind { failed, timed_out, peer_lost, disagreement, collateral };

  CommError(Kind kind, const std::string& message)
      : Error(kind == Kind::timed_out ? ExitCode::timed_out : ExitCode::run_failed, message), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// The current errno as "text (errno N)"; of a limit with its value, "(errno 24; a process may open 16, see
// ulimit -n)".
std::string errno_text();
std::string errno_text(int error_number);

}  // namespace lockstep::base
