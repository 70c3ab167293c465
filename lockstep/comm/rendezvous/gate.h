// Where connections wait until they have shown the run's token. Strangers cost next to nothing here: of each
// at most the preamble's 20 bytes are ever read, it has 2 s to send them, at most 64 may wait at a time (the
// oldest goes), and the first wrong byte closes it. The token is only compared whole: closing at its first
// wrong byte would let a stranger guess it byte by byte.
#pragma once

#include <list>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/rendezvous/protocol.h"

namespace lockstep::comm {

class Gate {
 public:
  static constexpr std::size_t kMostWaiting = 64;
  static constexpr base::Nanoseconds kPatience = std::chrono::seconds(2);

  explicit Gate(std::string token_bytes) : preamble_(preamble(token_bytes)) {}

  void enter(base::UniqueFd fd, base::TimePoint now);
  // Reads what the connection has sent: gives it back once it has shown the token, drops it at a wrong byte.
  std::optional<base::UniqueFd> read(int fd);
  void drop_late(base::TimePoint now);
  void drop_all() { waiting_.clear(); }
  // When the next one is late.
  std::optional<base::TimePoint> next_deadline() const;
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Stranger {
    base::UniqueFd fd;
    base::TimePoint since;
    std::string shown;
  };
  enum class Look { incomplete, wrong, right };
  Look look_at(const std::string& shown) const;

  std::string preamble_;
  std::list<Stranger> waiting_;  // the oldest first
};

}  // namespace lockstep::comm
