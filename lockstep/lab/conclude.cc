#include "lockstep/lab/conclude.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/lab/atomic_file.h"
#include "lockstep/lab/run_events.h"
#include "lockstep/lab/run_index.h"
#include "lockstep/record/record_steps.h"

namespace lockstep::lab {
namespace {

using Json = nlohmann::json;

std::string lines_of(const std::vector<record::Event>& events) {
  std::string text;
  for (const record::Event& event : events) text += record::to_line(event) + "\n";
  return text;
}

// The launcher sees all cores, a rank only its own; a rank knows its GPU and its libraries.
Json joined(Json launchers, const Json& ranks) {
  for (const auto& [name, value] : ranks.items()) {
    if (name == "libraries" && launchers.contains(name))
      launchers[name].update(value);
    else if (!launchers.contains(name))
      launchers[name] = value;
  }
  return launchers;
}

void add_machine_of_rank_0(record::RunContext& context, const std::vector<record::Event>& events) {
  const auto started = record::bodies_of<record::StartedEvent>(events, 0);
  if (!context.machine || started.empty() || !started.front()->machine) return;
  context.machine = joined(*context.machine, *started.front()->machine);
}

std::optional<record::RunRecord> whole_record(const RunDirectory& run) {
  try {
    return run.has_record() ? std::optional(read_record(run)) : std::nullopt;
  } catch (const base::StoreError&) {  // damaged
    return std::nullopt;
  }
}

// What a launcher was writing when it was killed.
void remove_half_written(const RunDirectory& run) {
  std::error_code ignored;
  std::vector<std::filesystem::path> parts;
  for (const auto& entry : std::filesystem::directory_iterator(run.path(), ignored))
    if (entry.path().extension() == ".part") parts.push_back(entry.path());
  for (const auto& part : parts) std::filesystem::remove(part, ignored);
}

// What the launcher would have said, but for what it saw of the ranks' processes. The time of the whole
// command is that until the ranks' last word.
record::RunContext late_context(const RunDirectory& run) {
  record::RunContext context;
  const std::optional<RunLaunch> launch = run.launch();
  if (!launch) return context;
  context.machine = launch->machine;
  context.local_world = launch->local_world;
  context.commanded_at = launch->commanded_at;
  context.until_last_event = true;
  return context;
}

}  // namespace

Conclusion merge_run(const RunDirectory& run, record::RunContext context) {
  RunEvents events = read_run_events(run);
  context.id = run.id();
  context.spec = run.spec();
  if (const auto place = run.place()) {
    context.study = place->study;
    context.cell = place->cell;
    context.repeat = place->repeat;
  }
  add_machine_of_rank_0(context, events.merged);
  record::RunRecord record = record::build_record(context, events.merged);
  for (const std::string& damage : events.damage) record.warnings.push_back(damage);
  return {std::move(record), std::move(events.merged)};
}

void keep_record(const RunDirectory& run, const Conclusion& conclusion) {
  write_atomically(run.record_file(), base::json_text(record::to_json(conclusion.record), 2) + "\n");
}

void keep_events(const RunDirectory& run, const Conclusion& conclusion) {
  write_atomically(run.events_file(), lines_of(conclusion.events));
}

record::RunRecord conclude(const RunDirectory& run, record::RunContext context) {
  Conclusion conclusion = merge_run(run, std::move(context));
  keep_record(run, conclusion);
  keep_events(run, conclusion);
  return std::move(conclusion.record);
}

LateConclusion conclude_late(const RunDirectory& run) {
  LateConclusion late;
  if (run.is_alive())
    throw base::ConfigError(
        fmt::format("run {} is still alive: its launcher or one of its ranks works on it. Next step: wait "
                    "for its end, or end it; "
                    "the launcher then makes the record.",
                    run.id()));
  remove_half_written(run);
  const std::optional<record::RunRecord> known = whole_record(run);
  if (known && is_concluded(run)) {
    late.record = *known;
    return late;
  }
  const Conclusion conclusion = merge_run(run, late_context(run));
  if (!known) keep_record(run, conclusion);
  keep_events(run, conclusion);
  late.record = known.value_or(conclusion.record);
  late.made_record = !known;
  late.made_events = true;
  note_in_index(run, late.record);
  return late;
}

bool is_concluded(const RunDirectory& run) {
  std::error_code ignored;
  return run.has_record() && (!has_rank_files(run) || std::filesystem::exists(run.events_file(), ignored));
}

record::RunRecord read_record(const RunDirectory& run) {
  if (!run.has_record())
    throw base::ConfigError(
        fmt::format("run {} has no record: it is still running, or it was killed before one could be "
                    "written. Next step: when it "
                    "has ended, `lockstep runs conclude {}` makes the record from what its ranks wrote.",
                    run.id(), run.id()));
  const Json json = base::try_parse_json(read_whole(run.record_file()));
  if (json.is_discarded())
    throw base::StoreError(fmt::format("{} is damaged: it is not JSON.", run.record_file().string()));
  return record::record_from_json(json);
}

}  // namespace lockstep::lab
