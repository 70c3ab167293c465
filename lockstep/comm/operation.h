// An Operation says everything about one collective: one struct through one call site, so that backends have
// one function to implement and wrappers one to wrap. The free functions below build well-formed ones.
//
// `input` and `output` by collective (n ranks, T the element type):
//   all_reduce      input S, output S                         in place when both are the same memory
//   reduce          input S; output S on the root             in place likewise
//   reduce_scatter  input: all parts; output: this rank's     parts as in `counts`, else equal; input may be
//   overwritten
//                   when the output lies inside it
//   all_gather      input: this rank's part; output: all      parts as in `counts`, else equal; in place when
//   the input is
//                   this rank's part of the output
//   broadcast       root: input S; others: output S           `in place` by nature: one buffer, given as both
//   gather          input: this rank's part; root output: all parts as in `counts`, else equal
//   scatter         root input: all; output: this rank's part parts as in `counts`, else equal
//   send, receive   input or output; `root` is the peer
//   barrier         nothing
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/comm/buffer.h"
#include "lockstep/measure/collective.h"
#include "lockstep/measure/ledger.h"

namespace lockstep::comm {

using measure::Collective;
using measure::Purpose;

enum class ReduceOp { sum, mean, max, min };
inline constexpr int kReduceOpCount = 4;
std::string_view name_of(ReduceOp op);
std::optional<ReduceOp> reduce_op_named(std::string_view name);

struct Operation {
  Collective collective = Collective::barrier;
  Buffer input;
  Buffer output;
  ReduceOp reduce_op = ReduceOp::sum;
  int root = 0;  // the root of rooted collectives, the peer of send and receive
  Purpose purpose = Purpose::control;
  std::vector<std::size_t> counts;  // elements per rank where parts are unequal; empty: equal parts

  // Of the buffer this rank has. Where both are empty, as a part may be, the one that was given a type says
  // it: a buffer that was left out is of u8.
  ElementType type() const {
    if (input.data != nullptr || input.bytes > 0) return input.type;
    if (output.data != nullptr || output.bytes > 0) return output.type;
    return input.type != ElementType::u8 ? input.type : output.type;
  }
};

Operation all_reduce(Buffer in_place, ReduceOp op, Purpose purpose);
Operation all_reduce(Buffer input, Buffer output, ReduceOp op, Purpose purpose);
Operation reduce(Buffer input, Buffer output, ReduceOp op, int root, Purpose purpose);
Operation reduce_scatter(Buffer input, Buffer output, ReduceOp op, Purpose purpose,
                         std::vector<std::size_t> counts = {});
Operation all_gather(Buffer input, Buffer output, Purpose purpose, std::vector<std::size_t> counts = {});
Operation broadcast(Buffer in_place, int root, Purpose purpose);
Operation gather(Buffer input, Buffer output, int root, Purpose purpose,
                 std::vector<std::size_t> counts = {});
Operation scatter(Buffer input, Buffer output, int root, Purpose purpose,
                  std::vector<std::size_t> counts = {});
Operation send(Buffer input, int to, Purpose purpose);
Operation receive(Buffer output, int from, Purpose purpose);
Operation barrier(Purpose purpose = Purpose::control);

// The part of a tensor that belongs to one rank.
struct Part {
  std::size_t offset_bytes;
  std::size_t bytes;
};
// Where rank `rank`'s part of the whole lies, for reduce_scatter, all_gather, gather and scatter.
Part part_of(const Operation& operation, int rank, int world);

// The payload in bytes, as measure/collective.h defines it.
std::uint64_t payload_bytes(const Operation& operation, int world);

// Throws ConfigError when buffers, counts and root do not fit together on this rank.
void validate(const Operation& operation, int rank, int world);

// "all_reduce (sum) of 1024 f32", for messages.
std::string describe(const Operation& operation);

}  // namespace lockstep::comm
