#include "lockstep/report/words/hardware.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/record/threads.h"
#include "lockstep/report/model/grid_axes.h"

namespace lockstep::report {
namespace {

int cores_of(const GridCell& cell) {
  const nlohmann::json& machine = cell.runs.front().machine;
  return machine.is_object() ? machine.value("cores", 0) : 0;
}

std::string threads_text(int count) {
  return fmt::format("{} thread{}", count, count == 1 ? "" : "s");
}

// "the same hardware", "1.5 times the hardware".
std::string hardware_text(double ideal) {
  if (ideal == 1) return "the same hardware";
  return fmt::format("{} times the hardware", display_number(ideal));
}

}  // namespace

bool has_spare_cores(const GridCell& cell) {
  const record::RunRecord& run = cell.runs.front();
  const int cores = cores_of(cell);
  if (field_text(run, "device") == "cuda" || cores == 0) return true;
  const int workers = record::workers_on_host(run);
  const int share = std::max(1, cores / std::max(1, workers));
  return workers * record::threads_per_worker(run).value_or(share) < cores;
}

Sentences slice_words(const Grid& grid) {
  std::vector<Evidence> rests;
  for (const GridCell& cell : grid.cells) {
    if (cell.runs.empty() || cell.workers < 2) continue;
    const std::string share = field_text(cell.runs.front(), "slice_share");
    if (!share.empty() && share != "null") rests.push_back({"spec.slice_share", cell.label, share});
  }
  if (rests.empty()) return {};
  return {{"slices",
           "Workers were slices of one GPU: each has a fixed share of its multiprocessors, and all of them "
           "share its memory bandwidth, its cache and its link to the host. They are not separate GPUs; what "
           "that costs, study side-by-side measures on the same machine.",
           std::move(rests)}};
}

Sentence threads_sentence(const GridCell& one, const ScalingStep& step, const ThreadChange& threads) {
  const int workers = step.cell->workers;
  const bool all_cores = threads.one == cores_of(one);
  return {
      "threads",
      fmt::format("One worker {}had {}{}; {} workers have {} each, {} in all: {}, so that the most to expect "
                  "is about {}, not {}.",
                  threads.one > threads.many ? "already " : "", threads_text(threads.one),
                  all_cores ? ", one for every core" : "", workers, threads_text(threads.many),
                  workers * threads.many, hardware_text(step.ideal), display_number(step.ideal), workers),
      {{"threads", one.label, std::to_string(threads.one)},
       {"threads", step.cell->label, std::to_string(threads.many)}}};
}

Sentences beyond_threads_words(const GridCell& one, const ScalingStep& step, const ThreadChange& threads) {
  if (step.efficiency->value <= kSuspectEfficiency) return {};
  const Number ideal = scaled(*figure(one, "samples_per_second"), step.ideal);
  const auto beyond = clearly_differ(ideal, *figure(*step.cell, "samples_per_second"));
  if (beyond == false) return {};
  const std::vector<Evidence> rests = {evidence("efficiency", *step.cell, *step.efficiency)};
  if (!beyond)
    return {
        {"threads-exceeded",
         "They measured more than that; without repeats it cannot be told whether that is more than noise.",
         rests}};
  return {{"threads-idle",
           fmt::format("They exceed that by more than the noise: {} workers of {} each do better than one of "
                       "{}, perhaps because one does not keep all of them busy, which was not measured.",
                       step.cell->workers, threads_text(threads.many), threads_text(threads.one)),
           rests}};
}

}  // namespace lockstep::report
