// When each rank of this host arrived at each collective, and at which, in memory they share: the only way to
// tell waiting for a peer from transfer inside an MPI call, which shows neither, and to notice that ranks
// disagree about the type, which no MPI checks. A rank notes its arrival in a line of its
// own before the call and reads the others' after it: no message, well under a microsecond. Ranks of other
// hosts, whose clocks differ, are left out: what is waited for them stays in busy.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/comm/operation.h"

namespace lockstep::comm {

class ArrivalBoard {
 public:
  // Collective over `comm`.
  explicit ArrivalBoard(MPI_Comm comm);
  // Collective again, if release() was called before; a board that was not released is left to MPI.
  ~ArrivalBoard() = default;
  void release();

  // Notes that this rank enters the next collective. Send and receive are not collectives.
  void arrive(const Operation& operation);
  // Throws CommError when a rank is known to have entered another collective instead of the one that this
  // rank has entered last. To be called after it: who came later has seen who came before.
  void require_agreement() const;
  // How long this rank waited, in the collective it has just left, for the last rank it depended on.
  base::Nanoseconds waited(const Operation& operation) const;
  // Whether that is the whole of it: no rank is of another host.
  bool sees_everybody() const { return std::find(lines_.begin(), lines_.end(), nullptr) == lines_.end(); }

 private:
  // A rank may be this many collectives ahead of another before its arrivals are overwritten unseen.
  static constexpr std::size_t kKept = 16;
  struct alignas(64) Arrival {
    std::atomic<std::uint64_t> sequence{0};
    std::atomic<std::int64_t> at{0};  // steady clock, nanoseconds
    std::atomic<std::uint64_t> kind{0};
    std::atomic<std::uint64_t> payload_bytes{0};
  };
  // What of a collective all ranks must agree on.
  struct Subject {
    std::uint64_t kind;  // collective, reduction, type and root in one word
    std::uint64_t payload_bytes;
    bool operator==(const Subject&) const = default;
  };
  struct Line {
    Arrival arrivals[kKept];
  };

  static Subject subject_of(const Operation& operation, int world);
  static std::string describe(const Subject& subject);
  // A window's memory begins anywhere in a page, at the same place in every process.
  static Line* line_in(void* memory);
  // What a rank of this host has entered under the number of our last one; nothing when it has not come to it
  // or is far past it.
  std::optional<Subject> subject_at(const Line& line) const;
  std::int64_t latest_of(const Operation& operation) const;

  int rank_ = 0;
  std::uint64_t sequence_ = 0;
  std::int64_t own_ = 0;
  Subject subject_{};
  MPI_Comm local_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<Line*> lines_;  // by rank of `comm`; null for ranks of other hosts
};

}  // namespace lockstep::comm
