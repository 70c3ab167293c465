// One rank's part in the cycles: says what this rank has, and finds out what every rank has.
//
// A cycle is one all-gather of the ranks' words (cycle_words.h). Tensors that are in the cache are bits
// there, and what all ranks have set is ready, in the order of the positions. For tensors that are not, the
// words say how many requests follow: then, and only then, rank 0 gathers the requests, writes them into its
// table and broadcasts the tensors that have become ready, and every rank puts these into its cache. Bytes of
// payload, with W words a rank and N ranks:
//
//   every cycle         8 W N
//   with requests       16 for each request of each rank, 16 for the header, 4 for each answer
//
// Rank 0 alone decides the order of answers, and thereby the positions. It also inspects what waits for too
// long; its verdict travels as an answer, so that all ranks end with the same words.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/parallel/horovod/cycle_words.h"
#include "lockstep/parallel/horovod/negotiation_table.h"
#include "lockstep/parallel/horovod/response_cache.h"
#include "lockstep/parallel/horovod/stall_inspector.h"
#include "lockstep/record/figures.h"

namespace lockstep::parallel::horovod {

struct NegotiatorOptions {
  std::size_t cache_capacity = 1024;
  StallLimits stall;
  std::function<void(const std::string&)> warn;  // rank 0 calls it; may be empty
};

struct CycleOutcome {
  std::vector<std::size_t> ready;  // on every rank, in the order in which they are to be reduced
  bool pause = false;              // every rank wants to
};

// Used by one thread at a time.
class Negotiator {
 public:
  // `control` is used for nothing else; it and `tensors` outlive the negotiator.
  Negotiator(const NegotiatorOptions& options, std::span<const TensorFacts> tensors,
             comm::Communicator& control);

  // Collective. `fresh` holds the tensors that this rank has got since the last cycle. Throws CommError, and
  // Error with the missing ranks and tensors when some have waited too long.
  CycleOutcome cycle(std::span<const std::size_t> fresh, bool wants_pause);
  const record::ControlFigures& figures() const { return figures_; }

 private:
  CycleWords words_of(int rank);
  void say_what_is_here(std::span<const std::size_t> fresh, bool wants_pause);
  void exchange_words();
  std::vector<std::size_t> take_cached();
  bool everywhere(std::size_t position);
  std::vector<std::size_t> requests_by_rank();
  std::vector<std::size_t> negotiate(const std::vector<std::size_t>& counts);
  void gather_requests(const std::vector<std::size_t>& counts);
  std::vector<std::size_t> broadcast_answers(std::vector<std::int32_t> answers);
  [[noreturn]] void end_with_verdict(std::size_t length);
  void inspect();
  std::vector<Waiting> waiting_in_cache();

  NegotiatorOptions options_;
  std::span<const TensorFacts> tensors_;
  comm::Communicator& control_;
  const int rank_;
  const int world_;
  ResponseCache cache_;
  std::size_t words_;                        // of a rank
  std::vector<std::uint64_t> all_;           // every rank's words
  std::vector<bool> here_;                   // by position: this rank has it
  std::vector<Request> requests_;            // of this rank, in this cycle
  std::optional<NegotiationTable> table_;    // on rank 0
  std::optional<StallInspector> inspector_;  // on rank 0
  std::string verdict_;                      // on rank 0: what ends the run, in the next cycle
  record::ControlFigures figures_;
};

}  // namespace lockstep::parallel::horovod
