#include "lockstep/cli/study/study_planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/cli/train/gpu_count.h"
#include "lockstep/cli/train/train_files.h"
#include "lockstep/cli/train/train_launch.h"
#include "lockstep/cli/train/train_plan.h"
#include "lockstep/cli/train/worker_program.h"
#include "lockstep/data/search.h"
#include "lockstep/device/machine_facts.h"
#include "lockstep/record/catalogue_strategies.h"
#include "lockstep/record/spec_validate.h"

namespace lockstep::cli {
namespace {

using record::Problem;
using record::RunSpec;

bool data_is_here(const RunSpec& spec) {
  const record::DataEntry& set = record::data_entry(spec.data);
  if (set.source != record::Source::files) return true;
  const std::vector<data::Place> places = data::places_of(set, spec.data_dir);
  return std::any_of(places.begin(), places.end(), [](const data::Place& place) { return place.found; });
}

// A data set that is not here gives way to the one that the study names for it.
std::string stand_in_data(const lab::Study& study, RunSpec& spec) {
  const std::string wanted = spec.data;
  const record::DataEntry& missing = record::data_entry(wanted);
  for (std::size_t i = 0; i <= study.data_stand_ins.size() && !data_is_here(spec); ++i) {
    const auto found = study.data_stand_ins.find(spec.data);
    if (found == study.data_stand_ins.end()) return "";
    spec.data = found->second;
  }
  if (spec.data == wanted) return "";
  return fmt::format("data {} stands in for {}, which is not on this machine ({})", spec.data, wanted,
                     missing.how_to_get);
}

// What this version's engine lacks, and what only wants a GPU or more of them, may run elsewhere.
bool only_here(const RunSpec& spec, const Problem& problem) {
  const record::StrategyEntry* entry = record::find_entry(record::strategy_entries(), spec.strategy);
  const bool of_engine = spec.engine == "lockstep" && entry != nullptr && !entry->in_lockstep;
  if ((problem.field == "strategy" && of_engine) || problem.field == "compression") return true;
  if (spec.device == "cpu") return false;
  const int enough = std::max(2, static_cast<int>(spec.workers));
  const std::vector<Problem> with_gpus = record::problems_of(spec, {1, enough});
  return std::none_of(with_gpus.begin(), with_gpus.end(),
                      [&](const Problem& other) { return other.field == problem.field; });
}

bool same_reason(const RunSpec& spec, const std::vector<Problem>& problems) {
  return std::all_of(problems.begin(), problems.end(), [&](const Problem& p) { return only_here(spec, p); });
}

[[noreturn]] void refuse(const lab::Study& study, const lab::Cell& cell, const Problem& problem) {
  throw base::ConfigError(fmt::format("{}{} (in cell {})", lab::place_of(study, cell, problem.field),
                                      record::text_of(problem), cell.name));
}

}  // namespace

StudyPlanner::StudyPlanner(std::filesystem::path store)
    : store_(std::move(store)), estimate_(store_), cores_(std::max(1, device::machine_facts().cores)) {}

int StudyPlanner::gpus() {
  if (!gpus_) gpus_ = count_gpus().count;
  return *gpus_;
}

lab::StudyPlan StudyPlanner::plan(lab::Study study) {
  lab::StudyPlan plan;
  for (lab::Cell& cell : lab::cells_of(study)) plan.cells.push_back(plan_cell(study, std::move(cell)));
  plan.study = std::move(study);
  return plan;
}

lab::PlannedCell StudyPlanner::plan_cell(const lab::Study& study, lab::Cell cell) {
  lab::PlannedCell planned;
  RunSpec spec = cell.spec;
  planned.stand_in = stand_in_data(study, spec);
  lab::set_spec(cell, std::move(spec));
  planned.cell = std::move(cell);
  resolve_cell(study, planned);
  if (planned.cannot_run.empty()) start_or_say_why_not(planned);
  add_effort(planned);
  return planned;
}

void StudyPlanner::resolve_cell(const lab::Study& study, lab::PlannedCell& planned) {
  const RunSpec& spec = planned.cell.spec;
  const int gpus_here = spec.device == "cpu" ? 0 : gpus();
  const std::vector<Problem> problems = record::problems_of(spec, {1, gpus_here});
  if (problems.empty()) return;
  // What a stand-in brings about is this machine's doing, not the file's.
  const bool excused = study.list_impossible || !planned.stand_in.empty();
  if (!same_reason(spec, problems) && !excused) {
    const auto worst = std::find_if(problems.begin(), problems.end(),
                                    [&](const Problem& problem) { return !only_here(spec, problem); });
    refuse(study, planned.cell, *worst);
  }
  planned.cannot_run = record::text_of(problems.front());
}

void StudyPlanner::start_or_say_why_not(lab::PlannedCell& planned) {
  try {
    const TrainPlan plan = plan_training(planned.cell.spec, std::nullopt);
    lab::set_spec(planned.cell, plan.spec);
    require_inputs(plan.spec);
    planned.request = run_request(plan);
    planned.request.quiet = true;
  } catch (const base::Error& error) {
    planned.cannot_run = error.what();
  }
}

void StudyPlanner::add_effort(lab::PlannedCell& planned) {
  const RunSpec& spec = planned.cell.spec;
  planned.oversubscribed = spec.device != "cuda" && spec.workers * spec.threads.value_or(1) > cores_;
  if (planned.cannot_run.empty())
    planned.estimate_seconds = estimate_.seconds_of(spec, planned.cell.hash, cores_);
}

}  // namespace lockstep::cli
