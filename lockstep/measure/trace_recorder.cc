// The recorder of one rank's slices: listens, keeps, and writes its fragment at the end.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/measure/trace.h"
#include "lockstep/measure/trace_fragment.h"
#include "lockstep/measure/whole_file.h"

namespace lockstep::measure {
namespace {

std::int64_t nanoseconds_of(base::TimePoint time) {
  return base::Nanoseconds(time.time_since_epoch()).count();
}

void write_line(std::ostream& out, const TraceSlice& slice) {
  out << base::json_text(to_json(slice)) << '\n';
}

}  // namespace

void TraceOptions::validate() const {
  if (rank < 0) throw base::ConfigError(fmt::format("a trace needs a rank of 0 or more, not {}", rank));
  if (most_slices == 0) throw base::ConfigError("a trace of no slices shows nothing");
}

TraceRecorder::TraceRecorder(TraceOptions options) : options_(std::move(options)) {
  options_.validate();
}

void TraceRecorder::on_span(Span span, Purpose purpose, base::TimePoint begin, base::TimePoint end) {
  const std::lock_guard lock(mutex_);
  if (has_room()) spans_.push_back({span, purpose, begin, end});
}

void TraceRecorder::on_movement(const OperationFacts& facts, const Movement& movement, base::TimePoint end) {
  const std::lock_guard lock(mutex_);
  if (!has_room()) return;
  OperationSlice& slice = operations_.emplace_back(OperationSlice{facts, movement, end});
  slice.facts.link = kept(facts.link);
  slice.facts.element_type = kept(facts.element_type);
}

bool TraceRecorder::has_room() {
  const bool room = spans_.size() + operations_.size() < options_.most_slices;
  if (!room) ++dropped_;
  return room;
}

std::string_view TraceRecorder::kept(std::string_view name) {
  for (const std::string& known : names_)
    if (known == name) return known;
  return names_.emplace_back(name);
}

std::size_t TraceRecorder::slices() const {
  const std::lock_guard lock(mutex_);
  return spans_.size() + operations_.size();
}

std::uint64_t TraceRecorder::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void TraceRecorder::write_fragment(const std::filesystem::path& path) const {
  const std::lock_guard lock(mutex_);
  write_whole_file(path, [this](std::ostream& out) {
    write_header(out);
    write_spans(out);
    write_operations(out);
  });
}

void TraceRecorder::write_header(std::ostream& out) const {
  TraceHeader header;
  header.rank = options_.rank;
  header.host = options_.host;
  header.clock_offset_ns = options_.clock_offset.count();
  header.slices = spans_.size() + operations_.size();
  header.dropped = dropped_;
  out << base::json_text(to_json(header)) << '\n';
}

void TraceRecorder::write_spans(std::ostream& out) const {
  for (const SpanSlice& piece : spans_) {
    TraceSlice slice;
    slice.name = name_of(piece.span);
    if (piece.span == Span::exposed_comm) slice.purpose = name_of(piece.purpose);
    slice.begin_ns = nanoseconds_of(piece.begin);
    slice.end_ns = nanoseconds_of(piece.end);
    write_line(out, slice);
  }
}

void TraceRecorder::write_operations(std::ostream& out) const {
  for (const OperationSlice& operation : operations_) {
    TraceSlice slice;
    slice.name = name_of(operation.facts.collective);
    slice.purpose = name_of(operation.facts.purpose);
    slice.begin_ns = nanoseconds_of(operation.end - operation.movement.busy);
    slice.end_ns = nanoseconds_of(operation.end);
    slice.operation = {std::string(operation.facts.link),
                       operation.facts.channel,
                       std::string(operation.facts.element_type),
                       operation.facts.input_elements,
                       operation.facts.output_elements,
                       operation.facts.ranks,
                       operation.facts.payload_bytes,
                       operation.movement.wire_bytes,
                       operation.movement.peer_wait.count()};
    write_line(out, slice);
  }
}

}  // namespace lockstep::measure
