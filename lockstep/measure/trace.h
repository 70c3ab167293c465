// A trace of a run: what every rank did when, on one clock, for Perfetto and chrome://tracing.
//
// Each rank collects its *slices* (a span of its training thread, or an operation of one of its
// communicators) in memory and writes them as a *fragment*, a file of JSON lines, at the end. Whoever has the
// fragments of all ranks merges them into one file: a process a rank, a track for its training thread and one
// for each communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/measure/ledger.h"
#include "lockstep/measure/step_timer.h"

namespace lockstep::measure {

struct TraceOptions {
  int rank = 0;
  std::string host;
  // What must be added to this host's steady clock to give the run's common clock. Ranks of one host have one
  // clock.
  base::Nanoseconds clock_offset{0};
  std::size_t most_slices = 200'000;  // what comes later is dropped, and counted; about 25 MB

  // Throws ConfigError.
  void validate() const;
};

// Listens to a step timer (its training thread) and to a ledger (any threads).
class TraceRecorder final : public SpanListener, public MovementListener {
 public:
  explicit TraceRecorder(TraceOptions options);

  void on_span(Span span, Purpose purpose, base::TimePoint begin, base::TimePoint end) override;
  void on_movement(const OperationFacts& facts, const Movement& movement, base::TimePoint end) override;

  std::size_t slices() const;
  std::uint64_t dropped() const;

  // Whole or absent. Throws StoreError.
  void write_fragment(const std::filesystem::path& path) const;

 private:
  struct SpanSlice {
    Span span;
    Purpose purpose;
    base::TimePoint begin;
    base::TimePoint end;
  };
  struct OperationSlice {
    OperationFacts facts;  // its texts are those of names_
    Movement movement;
    base::TimePoint end;
  };
  bool has_room();
  std::string_view kept(std::string_view name);
  void write_header(std::ostream& out) const;
  void write_spans(std::ostream& out) const;
  void write_operations(std::ostream& out) const;

  const TraceOptions options_;
  mutable std::mutex mutex_;
  std::deque<SpanSlice> spans_;            // a deque: growing moves nothing while a step is being timed
  std::deque<OperationSlice> operations_;  // in the order of their ends
  std::deque<std::string> names_;          // of links and element types, which a communicator takes with it
  std::uint64_t dropped_ = 0;
};

struct TraceSummary {
  std::size_t slices = 0;
  std::uint64_t dropped = 0;  // by the recorders: the trace then ends early
};

// Merges fragments, one a rank, into a Chrome trace (JSON). Slices of one track never overlap. Whole or
// absent. Throws StoreError that names the fragment when one cannot be read or two are of the same rank.
TraceSummary write_trace(const std::filesystem::path& path, std::span<const std::filesystem::path> fragments);

}  // namespace lockstep::measure
