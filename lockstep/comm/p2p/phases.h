// An operation in phases: short kernels that never wait, and between them meetings, for which the stream
// waits. For ranks that share a GPU, where a kernel that waits may keep a peer's from running. For host code
// and kernels (which are C++17); needs no GPU.
//
// All ranks of a group do the same phases in the same order. A phase begins when all peers have done the
// phase before it: each phase ends by signalling one meeting to every peer, and the next one waits for that
// meeting.
//
//   publish  waits for `read`, puts what peers shall read into the own arena,         signals `ready`
//   reduce   waits for `ready`, reads the peers' arenas,                              signals `read`
//            (of a two-shot all-reduce: reduces its own share,                        signals `reduced`)
//   pull     waits for `ready` or `reduced`, reads the peers' arenas,                 signals `read`
//
// An operation is as many such rounds as its pieces take (plan.h). A message is the same between two ranks:
// the sender waits for `taken`, fills its outbox and signals `mailed`; the receiver waits for `mailed`,
// empties it and signals `taken`. At the beginning all have `read` and `taken`.
//
// *The words.* A meeting is one word for each pair of ranks, in memory that all ranks and devices of the
// group reach. The signal writes kCame and the operation's signature; a block behind the wait compares the
// signature, the last block of the phase's kernel puts the word back to 0 and only then signals, if the
// comparison has not stopped this rank. All of these are constants, so an operation that is recorded once can
// be repeated, between others that are not: which phase comes next is said by the order alone, and nothing
// has to go on from one to the next but the words.
//
// *Why no word is overwritten before it was seen, and none is missed.* Number the phases of a group from its
// beginning: the numbers are the same on all ranks. Consecutive phases signal different meetings. Let q
// signal X to r in phase i, and X again in phase j; then j >= i + 2. Before its phase j rank q has waited for
// r's signal of phase j - 1 >= i + 1, which r gave at the end of that phase; and phase i + 1 of r waited for
// q's word X, compared it, and put it back before it signalled. So r has seen the first signal and cleared it
// before q writes the second, and clears nothing later: the word goes 0, came, 0, came. Between two ranks,
// messages do the same with two meetings in turn, one in each direction.
//
// *Why nothing is overwritten that a peer still reads.* A rank writes its arena in `publish`, after all
// peers' `read`, which they signal after their last reads of it; and its own share in `reduce`, which no peer
// reads before `reduced`.
//
// *Who looks behind a wait.* The host ends the waits of a rank that must stop, so what comes behind one has
// to look before it writes what a peer may still read: the arena in `publish`, the outbox in `send`. There a
// kernel of one small block in front of the phase's looks, unless that has a single block itself. Behind the
// other meetings the first block looks while the others work already: what they write nobody reads before
// the next meeting, which is not signalled then, and the operation fails.
//
// *Why no order of kernels on a GPU starves anybody.* A kernel never waits, so a kernel that has begun ends.
// Of the ranks whose next phase has the smallest number i, all peers have done phase i - 1, so their signals
// are there: as long as anything is left, some rank's next kernel may run, and needs nothing but its turn.
#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/comm/p2p/algorithm.h"
#include "lockstep/comm/p2p/arena_layout.h"

namespace lockstep::comm::p2p {

// What a rank tells a peer.
enum class Meeting : std::uint32_t {
  ready,    // its data of this round lies in its arena
  reduced,  // its share of a two-shot all-reduce does
  read,     // it has read what it needs of the peers' arenas
  mailed,   // its piece lies in its outbox for the peer
  taken,    // it has read the piece in the peer's outbox
  none,
};
inline constexpr int kMeetings = 5;

// A word is 0, or this bit and 31 bits of the operation's signature.
inline constexpr std::uint32_t kCame = 0x80000000u;
constexpr std::uint32_t came(std::uint32_t signature) {
  return kCame | signature;
}

// The words of one rank, in memory of the host that all ranks and their devices map. Each rank has pages of
// its own.
struct alignas(4096) RankWords {
  // Signalled by the device of the peer `who`, put back by this rank's: [meeting][who].
  std::uint32_t met[kMeetings][kMostRanks];
  // Written by this rank's device, to be read by hosts that look for who is late. Collectives only.
  std::uint32_t begun;
  std::uint32_t ended;
  std::uint32_t awaits;  // the Meeting that the next phase waits for
  // Written by this rank's host: how many operations it has put on its stream, and which have ended.
  alignas(128) std::uint32_t submitted;  // collectives
  std::uint32_t completed;
  std::uint32_t sent[kMostRanks];  // messages, by peer
  std::uint32_t received[kMostRanks];
};

enum class Step : std::uint32_t {
  publish,
  reduce,
  pull,
  send,
  receive,
  note,  // of a receive: from here on it waits
};

struct Phase {
  Step step;
  std::uint32_t round;
  Meeting waits;    // before the kernel, by all peers (of a message, by the one)
  Meeting signals;  // at its end
  bool first;       // of the operation
  bool last;
};

// Whether a phase meets one peer, Task::root, instead of all.
constexpr bool is_of_message(Step step) {
  return step >= Step::send;
}

// Whether a kernel in front of the phase's looks at what was waited for; else its first block does.
constexpr bool looks_ahead(const Phase& phase, std::uint32_t blocks) {
  return (phase.waits == Meeting::read || phase.waits == Meeting::taken) && blocks > 1;
}

// `sends`: of a message.
std::vector<Phase> phases_of(Algorithm algorithm, bool sends, std::uint32_t rounds);

}  // namespace lockstep::comm::p2p
