// The staged way: private buffers pass through staging areas piece by piece. A piece is staged by its owners
// in one phase and consumed by the takers in the next, while the next piece is staged; two buffers of each
// kind are enough, because a rank that stages piece k+1 knows from the phase between that everybody has
// consumed piece k-1.
#include <algorithm>

#include "lockstep/comm/reduction/reduction.h"
#include "lockstep/comm/shared/exchange.h"

namespace lockstep::comm::shared {
namespace {

std::size_t pieces_of(std::size_t bytes, std::size_t piece_bytes) {
  return (bytes + piece_bytes - 1) / piece_bytes;
}

// The bytes of piece `k` of a range of `bytes`; empty beyond its end.
Part piece_of(std::size_t bytes, std::size_t k, std::size_t piece_bytes) {
  const std::size_t begin = std::min(bytes, k * piece_bytes);
  return {begin, std::min(piece_bytes, bytes - begin)};
}

// The piece each rank's part gets when a staging buffer is divided among all ranks: whole cache lines.
std::size_t sub_piece_bytes(int world) {
  return kPieceBytes / static_cast<std::size_t>(world) / kLine * kLine;
}

}  // namespace

void Exchange::run_staged() {
  switch (operation_.collective) {
    case Collective::all_reduce:
      return reduce_staged(true);
    case Collective::reduce:
      return reduce_staged(false);
    case Collective::reduce_scatter:
      return reduce_scatter_staged();
    case Collective::scatter:
      return scatter_staged();
    case Collective::all_gather:
    case Collective::gather:
    case Collective::broadcast:
      return spread_staged();
    case Collective::barrier:
    case Collective::send:
    case Collective::receive:
      return;
  }
}

void Exchange::pipeline(std::size_t pieces, const std::function<void(std::size_t)>& stage,
                        const std::function<void(std::size_t)>& consume) {
  for (std::size_t k = 0; k <= pieces; ++k) {
    if (k < pieces) stage(k);
    if (k > 0) consume(k - 1);
    if (k < pieces) sync();
  }
}

// Three stages a piece: every rank stages what the others will reduce, reduces its own share into a result
// buffer, and collects the others' results. What a rank reduces itself, it takes from its own input without
// staging.
void Exchange::reduce_staged(bool everyone_receives) {
  const std::size_t bytes = operation_.input.bytes;
  const std::size_t pieces = pieces_of(bytes, kPieceBytes);
  const bool receives = everyone_receives || is_root();
  const std::size_t element_bytes = bytes_of(operation_.type());

  const auto stage = [&](std::size_t k) {
    const Part piece = piece_of(bytes, k, kPieceBytes);
    const Part own = work_share(piece.bytes, rank(), world());
    std::byte* staging = block().staged_input(rank(), k);
    const std::byte* from = input() + piece.offset_bytes;
    const std::size_t after = own.offset_bytes + own.bytes;
    copy_own(staging, from, own.offset_bytes);
    copy_own(staging + after, from + after, piece.bytes - after);
  };
  const auto reduce = [&](std::size_t k) {
    const Part piece = piece_of(bytes, k, kPieceBytes);
    const Part own = work_share(piece.bytes, rank(), world());
    std::vector<const void*> inputs;
    for (int r = 0; r < world(); ++r) {
      const bool mine = r == rank();
      inputs.push_back(mine ? input() + piece.offset_bytes + own.offset_bytes
                            : block().staged_input(r, k) + own.offset_bytes);
      if (!mine) count(own.bytes);
    }
    std::vector<void*> outputs = {block().staged_result(rank(), k) + own.offset_bytes};
    if (receives) outputs.push_back(output() + piece.offset_bytes + own.offset_bytes);
    reduce_ranks(operation_.reduce_op, operation_.type(), outputs, inputs, own.bytes / element_bytes);
  };
  const auto collect = [&](std::size_t k) {
    const Part piece = piece_of(bytes, k, kPieceBytes);
    for (int r = 0; r < world(); ++r) {
      if (r == rank()) continue;
      const Part share = work_share(piece.bytes, r, world());
      copy_from(r, output() + piece.offset_bytes + share.offset_bytes,
                block().staged_result(r, k) + share.offset_bytes, share.bytes);
    }
  };
  for (std::size_t k = 0; k < pieces + 2; ++k) {
    if (k < pieces) stage(k);
    if (k >= 1 && k - 1 < pieces) reduce(k - 1);
    if (k >= 2 && receives) collect(k - 2);
    if (k < pieces + 1) sync();
  }
}

// Every rank stages, side by side, the same piece of each other rank's part.
void Exchange::reduce_scatter_staged() {
  const std::size_t sub_piece = sub_piece_bytes(world());
  std::size_t longest = 0;
  for (int r = 0; r < world(); ++r) longest = std::max(longest, part(r).bytes);

  const auto stage = [&](std::size_t k) {
    for (int r = 0; r < world(); ++r) {
      if (r == rank()) continue;
      const Part piece = piece_of(part(r).bytes, k, sub_piece);
      copy_own(block().staged_input(rank(), k) + static_cast<std::size_t>(r) * sub_piece,
               input() + part(r).offset_bytes + piece.offset_bytes, piece.bytes);
    }
  };
  const auto reduce = [&](std::size_t k) {
    const Part piece = piece_of(part(rank()).bytes, k, sub_piece);
    std::vector<const void*> inputs;
    for (int r = 0; r < world(); ++r) {
      const bool mine = r == rank();
      inputs.push_back(mine ? input() + part(rank()).offset_bytes + piece.offset_bytes
                            : block().staged_input(r, k) + static_cast<std::size_t>(rank()) * sub_piece);
      if (!mine) count(piece.bytes);
    }
    void* const outputs[] = {output() + piece.offset_bytes};
    reduce_ranks(operation_.reduce_op, operation_.type(), outputs, inputs,
                 piece.bytes / bytes_of(operation_.type()));
  };
  pipeline(pieces_of(longest, sub_piece), stage, reduce);
}

// Ranks that have something to give stage it; ranks that want it copy it out.
void Exchange::spread_staged() {
  const bool broadcasts = operation_.collective == Collective::broadcast;
  const bool takes = broadcasts ? !is_root() : operation_.collective == Collective::all_gather || is_root();
  const auto given_by = [&](int r) {
    if (!broadcasts) return part(r);
    return r == operation_.root ? Part{0, operation_.input.bytes} : Part{0, 0};
  };
  std::size_t longest = 0;
  for (int r = 0; r < world(); ++r) longest = std::max(longest, given_by(r).bytes);

  const auto stage = [&](std::size_t k) {
    const Part piece = piece_of(given_by(rank()).bytes, k, kPieceBytes);
    copy_own(block().staged_input(rank(), k), input() + piece.offset_bytes, piece.bytes);
  };
  const auto take = [&](std::size_t k) {
    for (int r = 0; r < world() && takes; ++r) {
      const Part piece = piece_of(given_by(r).bytes, k, kPieceBytes);
      std::byte* to = output() + given_by(r).offset_bytes + piece.offset_bytes;
      if (r == rank())
        copy_own(to, input() + piece.offset_bytes, piece.bytes);
      else
        copy_from(r, to, block().staged_input(r, k), piece.bytes);
    }
  };
  pipeline(pieces_of(longest, kPieceBytes), stage, take);
}

// The root stages, side by side, the same piece of every rank's part.
void Exchange::scatter_staged() {
  const std::size_t sub_piece = sub_piece_bytes(world());
  std::size_t longest = 0;
  for (int r = 0; r < world(); ++r) longest = std::max(longest, part(r).bytes);

  const auto stage = [&](std::size_t k) {
    for (int r = 0; r < world() && is_root(); ++r) {
      if (r == rank()) continue;
      const Part piece = piece_of(part(r).bytes, k, sub_piece);
      copy_own(block().staged_input(rank(), k) + static_cast<std::size_t>(r) * sub_piece,
               input() + part(r).offset_bytes + piece.offset_bytes, piece.bytes);
    }
  };
  const auto take = [&](std::size_t k) {
    const Part piece = piece_of(part(rank()).bytes, k, sub_piece);
    std::byte* to = output() + piece.offset_bytes;
    if (is_root())
      copy_own(to, input() + part(rank()).offset_bytes + piece.offset_bytes, piece.bytes);
    else
      copy_from(operation_.root, to,
                block().staged_input(operation_.root, k) + static_cast<std::size_t>(rank()) * sub_piece,
                piece.bytes);
  };
  pipeline(pieces_of(longest, sub_piece), stage, take);
}

}  // namespace lockstep::comm::shared
