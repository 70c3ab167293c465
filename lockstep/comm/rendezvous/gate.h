// Where connections wait until they have shown that they hold the run's key. Strangers cost next to nothing
// here: of each at most a few hundred bytes are ever read, it has 2 s to send them, at most 64 may wait at a
// time (the oldest goes), and the first byte that is not of this protocol closes it.
#pragma once

#include <list>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/rendezvous/handshake.h"

namespace lockstep::comm {

class Gate {
 public:
  static constexpr std::size_t kMostWaiting = 64;
  static constexpr base::Nanoseconds kPatience = std::chrono::seconds(2);

  Gate(std::string key, int port) : key_(std::move(key)), port_(port) {}

  // Who has been let in. What it claims is true as far as holders of the key go.
  struct Admitted {
    base::UniqueFd fd;
    Hello hello;
    std::string admission;  // to be sent first
  };

  void enter(base::UniqueFd fd, base::TimePoint now);
  // Reads what the connection has sent; closes it when that is wrong.
  std::optional<Admitted> read(int fd);
  void drop_late(base::TimePoint now);
  void drop_all() { waiting_.clear(); }
  // When the next one is late.
  std::optional<base::TimePoint> next_deadline() const;
  // Callers that spoke this protocol and were not let in, for a run whose ranks do not all arrive: "rank 1 of
  // 2 on host b called with another key"; empty when there were none.
  const std::string& turned_away() const { return turned_away_; }

 private:
  struct Stranger {
    base::UniqueFd fd;
    base::TimePoint since;
    ServerHandshake handshake;
  };
  void turn_away(const Stranger& stranger, ServerHandshake::State state);

  std::string key_;
  int port_;
  std::list<Stranger> waiting_;  // the oldest first
  std::string turned_away_;
};

}  // namespace lockstep::comm
