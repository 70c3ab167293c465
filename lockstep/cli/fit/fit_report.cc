#include "lockstep/cli/fit/fit_report.h"

#include <fmt/format.h>

#include "lockstep/base/text.h"
#include "lockstep/base/units.h"
#include "lockstep/cli/text_table.h"

namespace lockstep::cli {
namespace {

std::int64_t global_batch(const FitRow& row) {
  return row.found.best->batch * row.answer.workers;
}

std::string time_per_sample(const BatchTrial& best) {
  if (!best.seconds_per_sample) return "";
  return base::format_duration(base::from_seconds(*best.seconds_per_sample));
}

std::vector<std::string> cells_of(const FitRow& row) {
  const std::string workers = std::to_string(row.answer.workers);
  const std::string trials = std::to_string(row.found.trials.size());
  if (!row.refused.empty()) return {row.answer.name, workers, "refused", "", "", "", trials};
  if (!row.found.best) return {row.answer.name, workers, "none fits", "", "", "", trials};
  const BatchTrial& best = *row.found.best;
  return {row.answer.name,
          workers,
          fmt::format("{}{}", best.batch, row.found.at_limit ? " or more" : ""),
          std::to_string(global_batch(row)),
          base::format_bytes(best.peak_bytes),
          time_per_sample(best),
          trials};
}

nlohmann::ordered_json json_of(const FitRow& row) {
  nlohmann::ordered_json json = {{"answer", row.answer.name},
                                 {"workers", row.answer.workers},
                                 {"flags", row.answer.flags},
                                 {"trials", row.found.trials.size()}};
  if (!row.refused.empty()) json["refused"] = row.refused;
  if (!row.found.best) return json;
  json["batch_per_worker"] = row.found.best->batch;
  json["global_batch"] = global_batch(row);
  json["at_limit"] = row.found.at_limit;
  json["peak_bytes"] = row.found.best->peak_bytes;
  if (row.found.best->seconds_per_sample) json["seconds_per_sample"] = *row.found.best->seconds_per_sample;
  return json;
}

// The largest global batch; among equals, the least time per sample.
const FitRow* best_of(const std::vector<FitRow>& rows, bool of_one_worker) {
  const FitRow* best = nullptr;
  for (const FitRow& row : rows) {
    if (!row.found.best || (row.answer.workers == 1) != of_one_worker) continue;
    if (best == nullptr || global_batch(row) > global_batch(*best)) best = &row;
  }
  return best;
}

std::string clause(const FitRow& row) {
  return fmt::format("{} takes a batch of {} ({} per worker; {})", row.answer.name, global_batch(row),
                     row.found.best->batch, base::join(row.answer.flags, " "));
}

}  // namespace

std::string advice(const std::vector<FitRow>& rows) {
  const FitRow* alone = best_of(rows, true);
  const FitRow* together = best_of(rows, false);
  if (alone == nullptr && together == nullptr)
    return "Nothing fits: take a smaller model, more workers with strategy zero3, or more memory.";
  if (alone == nullptr) return fmt::format("One worker is not enough; {}.", clause(*together));
  if (together == nullptr) return fmt::format("On one worker, {}.", clause(*alone));
  return fmt::format("On one worker, {}; on several, {}.", clause(*alone), clause(*together));
}

std::string fit_text(const FitOptions& options, const std::vector<FitRow>& rows, const Console& console) {
  TextTable table({{"answer", false},
                   {"workers"},
                   {"largest batch per worker"},
                   {"global batch"},
                   {"peak memory"},
                   {"time per sample"},
                   {"trials"}});
  for (const FitRow& row : rows) table.add(cells_of(row));
  std::string text = fmt::format("{} for each worker\n\n{}\n{}\n", base::format_bytes(options.device_memory),
                                 table.text(console, 0), advice(rows));
  for (const FitRow& row : rows)
    if (!row.refused.empty()) text += fmt::format("{}: {}\n", row.answer.name, row.refused);
  return text;
}

nlohmann::ordered_json fit_json(const FitOptions& options, const std::vector<FitRow>& rows) {
  nlohmann::ordered_json json = {{"device_memory", options.device_memory}, {"advice", advice(rows)}};
  for (const FitRow& row : rows) json["answers"].push_back(json_of(row));
  return json;
}

}  // namespace lockstep::cli
