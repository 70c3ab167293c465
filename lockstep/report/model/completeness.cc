#include "lockstep/report/model/completeness.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "lockstep/base/counted.h"
#include "lockstep/base/text.h"
#include "lockstep/lab/study_cells.h"
#include "lockstep/lab/study_state.h"

namespace lockstep::report {
namespace {

using lab::EndKind;
using record::RunRecord;

// The study's plan as far as a report needs it: which cells there are and which of them cannot run.
lab::StudyPlan plan_of(const lab::Study& study, const std::vector<CellNote>& notes) {
  lab::StudyPlan plan{study, {}};
  for (const lab::Cell& cell : lab::cells_of(study)) {
    plan.cells.emplace_back();
    plan.cells.back().cell = cell;
    for (const CellNote& note : notes)
      if (note.cannot_run && note.cell == cell.name) plan.cells.back().cannot_run = note.remark;
  }
  return plan;
}

// Each cell's runs by repeat. Records of several machines may repeat each other: a finished one stands for
// all.
using CellRuns = std::map<std::int64_t, const RunRecord*>;

std::vector<CellRuns> runs_of(const lab::StudyPlan& plan, const std::vector<RunRecord>& records) {
  std::vector<CellRuns> runs(plan.cells.size());
  for (const RunRecord& record : records)
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      if (plan.cells[i].cell.name != record.cell.value_or("")) continue;
      const RunRecord*& known = runs[i][record.repeat.value_or(1)];
      if (known == nullptr || known->status != "finished") known = &record;
    }
  return runs;
}

void count_runs(Completeness& counts, const CellRuns& runs) {
  for (const auto& [repeat, run] : runs)
    ++(run->status == "finished"        ? counts.well
       : run->status == "out_of_memory" ? counts.out_of_memory
       : run->status == "interrupted"   ? counts.interrupted
                                        : counts.failed);
}

// A failure is no answer: `lockstep study --resume` tries again.
bool goes_on(EndKind kind) {
  return kind == EndKind::goes_on || kind == EndKind::failed;
}

void count_cell(Completeness& counts, EndKind kind, int done, int least) {
  ++counts.cells;
  counts.cannot_run += kind == EndKind::cannot_run ? 1 : 0;
  counts.cut_short += kind == EndKind::budget_spent && done < least ? 1 : 0;
  counts.going_on += goes_on(kind) ? 1 : 0;
  const int more = kind == EndKind::goes_on ? done + 1 : done;
  counts.planned += goes_on(kind) ? std::max(least, more) : done;
}

std::string unfinished_text(const Completeness& counts) {
  std::string text =
      fmt::format("{} of {} ended well", counts.well, base::counted(counts.planned, "planned run"));
  if (counts.out_of_memory > 0) text += fmt::format(", {} ran out of memory", counts.out_of_memory);
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  if (counts.interrupted > 0)
    text += fmt::format(", {} {} interrupted", counts.interrupted, counts.interrupted == 1 ? "was" : "were");
  return text;
}

std::string cells_text(int count, int of) {
  return fmt::format("{} of {}", count, base::counted(of, "cell"));
}

// What of a study that has ended was left out all the same; empty where nothing was.
std::string left_out_text(const Completeness& counts, const lab::Study& study) {
  std::vector<std::string> parts;
  if (counts.cannot_run > 0)
    parts.push_back(cells_text(counts.cannot_run, counts.cells) + " cannot run on this machine");
  if (counts.cut_short > 0)
    parts.push_back(fmt::format("{} had too little budget for {}", cells_text(counts.cut_short, counts.cells),
                                base::counted(study.repeats.least, "repeat")));
  std::vector<std::string> fields;
  for (const lab::FieldSetting& set : study.choice.sets) fields.push_back(set.field);
  if (!fields.empty()) parts.push_back("--set changed " + base::join(fields, ", "));
  return parts.empty() ? "" : base::join(parts, "; ");
}

}  // namespace

Completeness completeness_of(const lab::Study& study, const std::vector<CellNote>& notes,
                             const std::vector<RunRecord>& records) {
  const lab::StudyPlan plan = plan_of(study, notes);
  const std::vector<CellRuns> runs = runs_of(plan, records);
  lab::StudyState state(plan);
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [repeat, run] : runs[i]) state.add(i, static_cast<int>(repeat), *run);
  Completeness counts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    count_runs(counts, runs[i]);
    count_cell(counts, state.end_of(i).kind, state.done(i), study.repeats.least);
  }
  return counts;
}

std::string first_line(const lab::Study* study, const std::vector<CellNote>& notes,
                       const std::vector<RunRecord>& records) {
  const std::string count = base::counted(std::ssize(records), "run");
  if (study == nullptr) return fmt::format("A report of {}.", count);
  const Completeness counts = completeness_of(*study, notes, records);
  const std::string left_out = left_out_text(counts, *study);
  const std::string also = left_out.empty() ? "" : "; " + left_out;
  const bool quick = !study->cut.empty();
  const std::string cut = quick ? " Cut: " + study->cut : "";
  if (!counts.finished())
    return fmt::format("Unfinished{}: {}{}.{}", quick ? " quick variant" : "", unfinished_text(counts), also,
                       cut);
  if (quick) return fmt::format("Quick variant, {}{}.{}", count, also, cut);
  return fmt::format("The whole study, {}; {}.", count, left_out.empty() ? "nothing was cut" : left_out);
}

}  // namespace lockstep::report
