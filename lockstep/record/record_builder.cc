#include "lockstep/record/record_builder.h"

#include <algorithm>

#include "lockstep/record/catalogue_resolve.h"
#include "lockstep/record/record_worlds.h"
#include "lockstep/record/threads.h"

namespace lockstep::record {
namespace {

std::string status_of(const RunRecord& record, bool all_finished) {
  if (record.failure) {
    const std::string& kind = record.failure->kind;
    return kind == "out_of_memory" || kind == "interrupted" ? kind : "failed";
  }
  return all_finished ? "finished" : "interrupted";
}

// How many ranks tell of themselves: every replica of our dp does, and PyTorch's DataParallel is one process.
int ranks_of(const RunSpec& spec) {
  return spec.engine == "torch" ? processes_of(spec) : static_cast<int>(spec.workers);
}

bool every_rank_finished(std::span<const Event> events, int world) {
  for (int rank = 0; rank < world; ++rank) {
    if (bodies_of<FinishedEvent>(events, rank).empty()) return false;
  }
  return true;
}

void add_identity(RunRecord& record, const RunContext& context) {
  record.id = context.id;
  record.spec_hash = spec_hash(context.spec);
  record.study = context.study;
  record.cell = context.cell;
  record.repeat = context.repeat;
  record.engine = context.spec.engine;
  record.spec = to_json(context.spec);
  record.workers = static_cast<int>(context.spec.workers);
  if (context.local_world.value_or(record.workers) < record.workers) record.local_world = context.local_world;
  const BatchSizes batch = batch_sizes(context.spec);
  record.batch = {batch.per_worker, batch.global};
}

void add_start(RunRecord& record, const RunContext& context, std::span<const Event> events) {
  record.machine = context.machine.value_or(nlohmann::json::object());
  const auto started = bodies_of<StartedEvent>(events, 0);
  if (started.empty()) return;
  record.started_at = started.front()->started_at;
  record.version = started.front()->version;
  record.threads = started.front()->threads;
  if (!context.machine && started.front()->machine) record.machine = *started.front()->machine;
}

// More workers than cores share them by turns, and wait for each other by turns too. The cores are those of
// one host, and so are the workers. Not set where all is well. What a run that never started would have used
// is what its spec asks for.
void add_oversubscription(RunRecord& record, const RunContext& context) {
  const nlohmann::json cores = record.machine.value("cores", nlohmann::json());
  if (context.spec.device == "cuda" || !cores.is_number_integer() || cores.get<std::int64_t>() < 1) return;
  const std::int64_t threads = record.threads ? *record.threads : context.spec.threads.value_or(1);
  if (workers_on_host(record) * threads > cores.get<std::int64_t>()) record.oversubscribed = true;
}

// Seconds since 1970 of "2026-11-15T21:39:59.206Z".
std::optional<double> unix_seconds(const std::string& utc) {
  std::tm parts{};
  const char* rest = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  const double fraction = *rest == '.' ? std::strtod(rest, nullptr) : 0;
  return static_cast<double>(::timegm(&parts)) + fraction;
}

// When the run began, by the wall clock: rank 0 says when it started to train by that and by the run's clock.
std::optional<double> began_at(std::span<const Event> events) {
  for (const Event& event : events) {
    const auto* started = std::get_if<StartedEvent>(&event.body);
    if (started == nullptr || event.rank != 0) continue;
    const std::optional<double> at = unix_seconds(started->started_at);
    return at ? std::optional(*at - event.time) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> total_seconds(const RunContext& context, std::span<const Event> events) {
  if (!context.until_last_event || !context.commanded_at) return context.total_seconds;
  const std::optional<double> began = began_at(events);
  const double total = began ? *began + events.back().time - *context.commanded_at : -1;
  return total >= 0 ? std::optional(total) : std::nullopt;
}

// From the command to the run's common beginning, when the last rank had joined. A rank says when it started
// to train, by the wall clock and by the run's; a wall clock that was set meanwhile is noticed and not
// believed.
std::optional<double> launch_seconds(const RunContext& context, const std::optional<double>& total,
                                     std::span<const Event> events) {
  const std::optional<double> began = began_at(events);
  if (!context.commanded_at || !total || !began) return std::nullopt;
  const double launch = *began - *context.commanded_at;
  return launch >= 0 && launch <= *total ? std::optional(launch) : std::nullopt;
}

// Of a run that did not come to its end: it had loaded when it started to train, and trained in its steps.
void add_seconds_so_far(RunRecord& record, std::span<const Event> events) {
  for (const Event& event : events) {
    if (event.rank != 0) continue;
    if (std::holds_alternative<StartedEvent>(event.body)) record.wall_seconds.load = event.time;
    if (const auto* step = std::get_if<StepEvent>(&event.body))
      record.wall_seconds.train = record.wall_seconds.train.value_or(0) + step->seconds;
  }
}

bool said_interrupted(std::span<const Event> events, int rank) {
  const auto failures = bodies_of<FailedEvent>(events, rank);
  return std::any_of(failures.begin(), failures.end(),
                     [](const FailedEvent* failed) { return failed->kind == "interrupted"; });
}

// Whether what ranks told is only what another's end did to them: a rank that lost its peer can only say so,
// and one that the launcher ended because of another says that it was interrupted. Where the rank that the
// launcher saw end says so itself, the signal was meant for the run; but not where the time was over: a rank
// that sits in a library until then is ended by the launcher's signal, which names no rank.
bool is_consequence(const FailureFigures& told, const FailureFigures& seen, std::span<const Event> events) {
  if (told.kind == "collateral" || told.kind == "communication") return true;
  if (told.kind != "interrupted" || seen.kind == "interrupted") return false;
  return seen.kind == "timed_out" ? told.rank < 0 : !said_interrupted(events, seen.rank);
}

// Ranks that fail by themselves at about the same time tell it in an order of their own; the one that the
// launcher saw end first is the one that it names.
std::optional<FailureFigures> failure_to_name(const std::optional<FailureFigures>& seen,
                                              std::span<const Event> events) {
  const std::optional<FailureFigures> first = first_failure(events);
  if (!seen || !first) return first;
  const std::optional<FailureFigures> own = first_failure(events, seen->rank);
  return own && own->kind == first->kind ? own : first;
}

void add_failure(RunRecord& record, const RunContext& context, std::span<const Event> events) {
  record.failure = failure_to_name(context.failure, events);
  const auto& seen = context.failure;
  if (seen && (!record.failure || is_consequence(*record.failure, *seen, events))) record.failure = seen;
  // Whoever started the ranks may know which of them was meant.
  if (seen && seen->kind == "interrupted" && record.failure->kind == "interrupted" &&
      record.failure->rank < 0)
    record.failure->rank = seen->rank;
}

void add_outcome(RunRecord& record, const RunContext& context, std::span<const Event> events) {
  if (const auto finished = bodies_of<FinishedEvent>(events, 0); !finished.empty()) {
    record.wall_seconds = finished.back()->wall_seconds;
    record.target = finished.back()->target;
  } else {
    add_seconds_so_far(record, events);
  }
  const std::optional<double> total = total_seconds(context, events);
  if (const auto launch = launch_seconds(context, total, events)) record.wall_seconds.launch = launch;
  if (total) record.wall_seconds.total = total;
  const bool all_finished = every_rank_finished(events, ranks_of(context.spec));
  add_failure(record, context, events);
  // A signal that came when there was nothing left to interrupt.
  if (all_finished && record.failure && record.failure->kind == "interrupted") record.failure.reset();
  record.status = status_of(record, all_finished);
}

}  // namespace

RunRecord build_record(const RunContext& context, std::span<const Event> merged) {
  RunRecord record;
  const int ranks = ranks_of(context.spec);
  add_identity(record, context);
  add_start(record, context, merged);
  add_oversubscription(record, context);
  record.epochs = epoch_figures(merged);
  record.steps = step_figures(merged, ranks);
  // Workers that share cores each found the same peak there; together they have less than the sum.
  if (record.oversubscribed) record.steps.share_of_peak.reset();
  record.comm = comm_figures(merged);
  record.ledger = ledger_lines(merged, ranks);
  record.memory = worst_memory(merged, ranks);
  record.utilization = utilization_figures(merged);
  record.per_rank = rank_figures(merged, ranks);
  record.warnings = warning_texts(merged, ranks);
  add_outcome(record, context, merged);
  return record;
}

}  // namespace lockstep::record
