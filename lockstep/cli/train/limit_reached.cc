#include "lockstep/cli/train/limit_reached.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

using record::RunRecord;

// A limit of the stored spec; nothing where it is not set.
std::optional<double> limit(const RunRecord& record, const char* name) {
  const auto found = record.spec.find(name);
  const bool is_set = found != record.spec.end() && found->is_number();
  return is_set ? std::optional(found->get<double>()) : std::nullopt;
}

bool is_resumed(const RunRecord& record) {
  return record.spec.contains("resume") && record.spec.at("resume").is_string();
}

bool epochs_are_done(const RunRecord& record, double asked) {
  if (record.epochs.empty()) return false;
  const record::EpochFigures& last = record.epochs.back();
  return !last.unfinished.value_or(false) && static_cast<double>(last.epoch) >= asked;
}

std::string time_text(const RunRecord& record, double seconds) {
  return fmt::format("max_time {:g} s{}", seconds,
                     is_resumed(record) ? ", the time of the training that was resumed included" : "");
}

}  // namespace

std::string limit_reached(const RunRecord& record) {
  if (record.status != "finished" || !record.spec.is_object()) return "";
  if (record.target && record.target->epochs)
    return fmt::format("target {} {:.4g}", record.target->metric, record.target->value);
  const auto epochs = limit(record, "epochs"), steps = limit(record, "steps"),
             seconds = limit(record, "max_time");
  if (epochs && epochs_are_done(record, *epochs)) return fmt::format("epochs {:g}", *epochs);
  // The steps of earlier parts of a resumed training are in their own records.
  const bool steps_are_done = steps && static_cast<double>(record.steps.count) >= *steps;
  if (steps && (steps_are_done || !seconds)) return fmt::format("steps {:g}", *steps);
  if (!seconds) return "";
  const std::string by_time = time_text(record, *seconds);
  return steps && is_resumed(record) ? fmt::format("steps {:g} or {}", *steps, by_time) : by_time;
}

}  // namespace lockstep::cli
