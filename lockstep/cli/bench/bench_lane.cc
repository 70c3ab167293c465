#include "lockstep/cli/bench/bench_lane.h"

#include <algorithm>
#include <cstring>

#include "lockstep/cli/bench/bench_data.h"

namespace lockstep::cli {
namespace {

using comm::Buffer;
using comm::Purpose;
using measure::Collective;

constexpr Purpose kPurpose = Purpose::gradient;  // the payload; everything else a bench sends is `metric`
constexpr int kSpoil = 0xFF;                     // no pattern has it: 255, -1, or not a number

// Writes a pattern to a buffer wherever it lives.
void fill(comm::Communicator& communicator, const Buffer& to, const Pattern& pattern, std::size_t first = 0) {
  if (to.place != comm::Place::device)
    return pattern.fill(static_cast<std::byte*>(to.data), to.count(), first);
  std::vector<std::byte> staging(to.bytes);
  pattern.fill(staging.data(), to.count(), first);
  communicator.copy(to, {staging.data(), to.bytes, to.type, comm::Place::host});
}

void spoil(comm::Communicator& communicator, const Buffer& to) {
  if (to.place != comm::Place::device) {
    std::memset(to.data, kSpoil, to.bytes);
    return;
  }
  std::vector<std::byte> staging(to.bytes, std::byte{kSpoil});
  communicator.copy(to, {staging.data(), to.bytes, to.type, comm::Place::host});
}

std::size_t count_wrong_in(comm::Communicator& communicator, const Buffer& from, const Pattern& pattern,
                           std::size_t first = 0) {
  if (from.place != comm::Place::device)
    return pattern.count_wrong(static_cast<const std::byte*>(from.data), from.count(), first);
  std::vector<std::byte> staging(from.bytes);
  communicator.copy({staging.data(), from.bytes, from.type, comm::Place::host}, from);
  return pattern.count_wrong(staging.data(), from.count(), first);
}

bool sends(int rank) {
  return rank % 2 == 0;
}

}  // namespace

LaneBytes largest_bytes(const std::vector<Cell>& cells, int world) {
  LaneBytes bytes;
  for (const Cell& cell : cells) {
    bytes.whole = std::max<std::size_t>(bytes.whole, cell.bytes());
    if (has_parts(cell.collective))
      bytes.part = std::max<std::size_t>(bytes.part, cell.bytes() / static_cast<std::size_t>(world));
  }
  return bytes;
}

Buffer Lane::whole(const Cell& cell) const {
  return memory_.whole.buffer(cell.type).part(0, cell.bytes());
}

Buffer Lane::part(const Cell& cell) const {
  return memory_.part.buffer(cell.type).part(0, cell.bytes() / static_cast<std::size_t>(world()));
}

std::optional<comm::Operation> Lane::operation(const Cell& cell) const {
  const bool is_root = rank() == cell.root;
  const int neighbour = sends(rank()) ? rank() + 1 : rank() - 1;
  switch (cell.collective) {
    case Collective::all_reduce:
      return comm::all_reduce(whole(cell), cell.op, kPurpose);
    case Collective::reduce:
      return comm::reduce(whole(cell), is_root ? whole(cell) : Buffer{}, cell.op, cell.root, kPurpose);
    case Collective::reduce_scatter:
      return comm::reduce_scatter(whole(cell), part(cell), cell.op, kPurpose);
    case Collective::all_gather:
      return comm::all_gather(part(cell), whole(cell), kPurpose);
    case Collective::broadcast:
      return comm::broadcast(whole(cell), cell.root, kPurpose);
    case Collective::gather:
      return comm::gather(part(cell), is_root ? whole(cell) : Buffer{}, cell.root, kPurpose);
    case Collective::scatter:
      return comm::scatter(is_root ? whole(cell) : Buffer{}, part(cell), cell.root, kPurpose);
    case Collective::send:
    case Collective::receive:
      if (neighbour >= world()) return std::nullopt;
      return sends(rank()) ? comm::send(whole(cell), neighbour, kPurpose)
                           : comm::receive(whole(cell), neighbour, kPurpose);
    case Collective::barrier:
      return comm::barrier(Purpose::control);
  }
  return std::nullopt;
}

void Lane::prepare(const Cell& cell) {
  const bool is_root = rank() == cell.root;
  switch (cell.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
      return fill(communicator_, whole(cell), reduce_input(cell, rank(), world()));
    case Collective::reduce_scatter:
      spoil(communicator_, part(cell));
      return fill(communicator_, whole(cell), reduce_input(cell, rank(), world()));
    case Collective::all_gather:
    case Collective::gather:
      spoil(communicator_, whole(cell));
      return fill(communicator_, part(cell), moved_data(cell, rank()));
    case Collective::scatter:
      spoil(communicator_, part(cell));
      [[fallthrough]];
    case Collective::broadcast:
      return is_root ? fill(communicator_, whole(cell), moved_data(cell, rank()))
                     : spoil(communicator_, whole(cell));
    case Collective::send:
    case Collective::receive:
      return sends(rank()) ? fill(communicator_, whole(cell), moved_data(cell, rank()))
                           : spoil(communicator_, whole(cell));
    case Collective::barrier:
      return;
  }
}

std::size_t Lane::count_wrong(const Cell& cell) {
  const bool is_root = rank() == cell.root;
  const std::size_t part_count = cell.count / static_cast<std::size_t>(world());
  const std::size_t part_first = part_count * static_cast<std::size_t>(rank());
  std::size_t wrong = 0;
  switch (cell.collective) {
    case Collective::reduce:
      if (!is_root) return 0;
      [[fallthrough]];
    case Collective::all_reduce:
      return count_wrong_in(communicator_, whole(cell), reduce_output(cell, world()));
    case Collective::reduce_scatter:
      return count_wrong_in(communicator_, part(cell), reduce_output(cell, world()), part_first);
    case Collective::gather:
      if (!is_root) return 0;
      [[fallthrough]];
    case Collective::all_gather:
      for (int from = 0; from < world(); ++from) {
        const std::size_t part_bytes = part(cell).bytes;
        const Buffer block = whole(cell).part(part_bytes * static_cast<std::size_t>(from), part_bytes);
        wrong += count_wrong_in(communicator_, block, moved_data(cell, from));
      }
      return wrong;
    case Collective::scatter:
      return count_wrong_in(communicator_, part(cell), moved_data(cell, cell.root), part_first);
    case Collective::broadcast:
      return count_wrong_in(communicator_, whole(cell), moved_data(cell, cell.root));
    case Collective::send:
    case Collective::receive:
      return sends(rank()) ? 0 : count_wrong_in(communicator_, whole(cell), moved_data(cell, rank() - 1));
    case Collective::barrier:
      return 0;
  }
  return 0;
}

}  // namespace lockstep::cli
