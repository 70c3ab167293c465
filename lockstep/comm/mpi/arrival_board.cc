#include "lockstep/comm/mpi/arrival_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "lockstep/base/error.h"
#include "lockstep/comm/mpi/mpi_call.h"

namespace lockstep::comm {
namespace {

// Whether `rank` cannot leave the collective before `other` has arrived.
bool depends(const Operation& operation, int rank, int other) {
  switch (operation.collective) {
    case Collective::broadcast:
    case Collective::scatter:
      return rank != operation.root && other == operation.root;
    case Collective::reduce:
    case Collective::gather:
      return rank == operation.root;
    case Collective::send:
    case Collective::receive:
      return false;
    case Collective::all_reduce:
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::barrier:
      return true;
  }
  return false;
}

}  // namespace

ArrivalBoard::ArrivalBoard(MPI_Comm comm) {
  int world = 1;
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &world);
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local_), rank_,
            "finding the ranks of this host");
  void* memory = nullptr;
  check_mpi(
      MPI_Win_allocate_shared(sizeof(Line) + alignof(Line), 1, MPI_INFO_NULL, local_, &memory, &window_),
      rank_, "sharing memory between the ranks of this host");
  new (line_in(memory)) Line;
  int local_world = 1, local_rank = 0;
  MPI_Comm_size(local_, &local_world);
  MPI_Comm_rank(local_, &local_rank);
  std::vector<int> ranks(static_cast<std::size_t>(local_world));
  // Also the barrier after which every line is initialised.
  MPI_Allgather(&rank_, 1, MPI_INT, ranks.data(), 1, MPI_INT, local_);
  lines_.resize(static_cast<std::size_t>(world));
  for (int local = 0; local < local_world; ++local) {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* base = nullptr;
    MPI_Win_shared_query(window_, local, &bytes, &unit, &base);
    lines_[static_cast<std::size_t>(ranks[static_cast<std::size_t>(local)])] = line_in(base);
  }
}

ArrivalBoard::Line* ArrivalBoard::line_in(void* memory) {
  std::size_t space = sizeof(Line) + alignof(Line);
  return static_cast<Line*>(std::align(alignof(Line), sizeof(Line), memory, space));
}

void ArrivalBoard::release() {
  MPI_Win_free(&window_);
  MPI_Comm_free(&local_);
}

// A reader that sees the number before and after has read what belongs to it: nobody reads half of what a
// rank that is kKept ahead writes over it.
void ArrivalBoard::arrive(const Operation& operation) {
  own_ = base::now().time_since_epoch().count();
  subject_ = subject_of(operation, static_cast<int>(lines_.size()));
  Arrival& arrival = lines_[static_cast<std::size_t>(rank_)]->arrivals[++sequence_ % kKept];
  arrival.sequence.store(0, std::memory_order_relaxed);
  arrival.at.store(own_, std::memory_order_release);  // each after the 0
  arrival.kind.store(subject_.kind, std::memory_order_release);
  arrival.payload_bytes.store(subject_.payload_bytes, std::memory_order_release);
  arrival.sequence.store(sequence_, std::memory_order_release);
}

std::optional<ArrivalBoard::Subject> ArrivalBoard::subject_at(const Line& line) const {
  const Arrival& arrival = line.arrivals[sequence_ % kKept];
  if (arrival.sequence.load(std::memory_order_acquire) != sequence_) return std::nullopt;
  const Subject subject{arrival.kind.load(std::memory_order_acquire),  // each before the number again
                        arrival.payload_bytes.load(std::memory_order_acquire)};
  if (arrival.sequence.load(std::memory_order_relaxed) != sequence_) return std::nullopt;
  return subject;
}

void ArrivalBoard::require_agreement() const {
  for (std::size_t other = 0; other < lines_.size(); ++other) {
    const std::optional<Subject> theirs =
        lines_[other] == nullptr ? std::nullopt : subject_at(*lines_[other]);
    if (theirs && *theirs != subject_)
      throw base::CommError(base::CommError::Kind::disagreement,
                            fmt::format("ranks disagree over mpi: rank {} is in {}, rank {} in {}", rank_,
                                        describe(subject_), other, describe(*theirs)));
  }
}

ArrivalBoard::Subject ArrivalBoard::subject_of(const Operation& operation, int world) {
  const auto byte = [](auto value) { return static_cast<std::uint64_t>(value) & 0xff; };
  return {byte(operation.collective) << 48 | byte(operation.reduce_op) << 40 | byte(operation.type()) << 32 |
              static_cast<std::uint32_t>(operation.root),
          payload_bytes(operation, world)};
}

std::string ArrivalBoard::describe(const Subject& subject) {
  Operation operation;
  operation.collective = static_cast<Collective>(subject.kind >> 48 & 0xff);
  operation.reduce_op = static_cast<ReduceOp>(subject.kind >> 40 & 0xff);
  operation.root = static_cast<int>(subject.kind & 0xffffffff);
  const auto type = static_cast<ElementType>(subject.kind >> 32 & 0xff);
  operation.input = {nullptr, subject.payload_bytes, type, Place::host};
  return comm::describe(operation);
}

base::Nanoseconds ArrivalBoard::waited(const Operation& operation) const {
  const std::int64_t now = base::now().time_since_epoch().count();
  return base::Nanoseconds(std::clamp<std::int64_t>(latest_of(operation) - own_, 0, now - own_));
}

std::int64_t ArrivalBoard::latest_of(const Operation& operation) const {
  std::int64_t latest = own_;
  for (std::size_t other = 0; other < lines_.size(); ++other) {
    if (lines_[other] == nullptr || !depends(operation, rank_, static_cast<int>(other))) continue;
    const Arrival& arrival = lines_[other]->arrivals[sequence_ % kKept];
    if (arrival.sequence.load(std::memory_order_acquire) != sequence_) continue;
    latest = std::max(latest, arrival.at.load(std::memory_order_relaxed));
  }
  return latest;
}

}  // namespace lockstep::comm
