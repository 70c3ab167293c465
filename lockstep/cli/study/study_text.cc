#include "lockstep/cli/study/study_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "lockstep/base/counted.h"
#include "lockstep/cli/study/study_files.h"
#include "lockstep/cli/text_table.h"
#include "lockstep/cli/train/live_status.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

// As the first round will run them; what cannot run comes last.
std::vector<std::size_t> running_order(const lab::StudyPlan& plan) {
  std::vector<std::size_t> order(plan.cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t cell) {
    return std::pair(!plan.cells[cell].cannot_run.empty(), lab::shuffle_key(plan, {cell, 1}));
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

double total_seconds(const lab::StudyPlan& plan) {
  double total = 0;
  for (const lab::PlannedCell& planned : plan.cells)
    if (planned.cannot_run.empty()) total += planned.estimate_seconds * plan.study.repeats.least;
  return total;
}

// One line for what cells have in common: a stand-in, or data in place of other data.
std::string remarks(const lab::StudyPlan& plan) {
  std::set<std::string> lines;
  for (const lab::PlannedCell& planned : plan.cells)
    if (!planned.stand_in.empty()) lines.insert(planned.stand_in);
  std::string text = plan.study.cut.empty() ? "" : "quick: " + plan.study.cut + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string repeats_text(const lab::Study& study) {
  if (study.repeats.least == study.repeats.most) return base::counted(study.repeats.least, "repeat");
  return fmt::format("{} to {} repeats", study.repeats.least, study.repeats.most);
}

Json plan_cell(const lab::PlannedCell& planned) {
  Json json = {{"cell", planned.cell.name}, {"spec_hash", planned.cell.hash}};
  for (const lab::AxisPoint& at : planned.cell.point) json["point"][at.axis] = at.value;
  if (planned.cannot_run.empty()) json["estimate_seconds"] = planned.estimate_seconds;
  if (!planned.cannot_run.empty()) json["cannot_run"] = planned.cannot_run;
  if (!planned.stand_in.empty()) json["stand_in"] = planned.stand_in;
  if (planned.oversubscribed) json["oversubscribed"] = true;
  return json;
}

Json study_head(const lab::StudyPlan& plan) {
  Json json = {{"study", plan.study.id()}, {"title", plan.study.title}, {"questions", plan.study.questions}};
  if (!plan.study.cut.empty()) json["cut"] = plan.study.cut;
  return json;
}

std::string how_it_ended(const lab::StudyOutcome& outcome) {
  switch (outcome.end) {
    case lab::StudyOutcome::End::budget:
      return "its budget is spent: --resume goes on";
    case lab::StudyOutcome::End::interrupted:
      return "interrupted: --resume goes on with what is missing";
    case lab::StudyOutcome::End::done:
      break;
  }
  return has_failures(outcome) ? "done, with failures: --resume tries those again" : "done";
}

// What became of the runs that were in the store already and do not count.
std::string other_runs_text(const lab::StudyOutcome& outcome) {
  if (outcome.removed > 0) return fmt::format("; {} removed", base::counted(outcome.removed, "earlier run"));
  if (outcome.of_other_versions == 0) return "";
  return fmt::format("; {} of other versions of it {} left out",
                     base::counted(outcome.of_other_versions, "run"),
                     outcome.of_other_versions == 1 ? "is" : "are");
}

Tone tone_of(lab::EndKind kind) {
  if (kind == lab::EndKind::failed) return Tone::bad;
  if (kind == lab::EndKind::cannot_run || kind == lab::EndKind::goes_on) return Tone::warning;
  return Tone::plain;
}

}  // namespace

bool has_failures(const lab::StudyOutcome& outcome) {
  return std::any_of(outcome.cells.begin(), outcome.cells.end(),
                     [](const lab::CellEnd& end) { return end.kind == lab::EndKind::failed; });
}

std::string list_text(const Console& console) {
  TextTable table({{"study", false}, {"what it answers", false}});
  for (const std::string& name : builtin_names()) table.add({name, load_study(name, {}).title});
  return table.text(console, 0) +
         "\n`lockstep study NAME --quick` ends within minutes; --dry-run shows the cells.\n";
}

Json list_json() {
  Json all = Json::array();
  for (const std::string& name : builtin_names()) {
    const lab::Study study = load_study(name, {});
    const lab::Study quick = load_study(name, {true, {}});
    all.push_back({{"name", name},
                   {"title", study.title},
                   {"questions", study.questions},
                   {"cells", lab::cells_of(study).size()},
                   {"quick_cut", quick.cut}});
  }
  return all;
}

namespace {

std::string cells_text(const lab::StudyPlan& plan, const Console& console) {
  TextTable table({{"cell", false}, {"estimate"}, {"", false}});
  for (const std::size_t index : running_order(plan)) {
    const lab::PlannedCell& planned = plan.cells[index];
    const bool runs = planned.cannot_run.empty();
    table.add({planned.cell.name, runs ? "~" + format_time_to_go(planned.estimate_seconds) : "",
               runs ? (planned.oversubscribed ? "oversubscribed: kept out of fits" : "")
                    : console.styled("cannot run here: " + planned.cannot_run, Tone::warning)});
  }
  std::string questions;
  for (const std::string& question : plan.study.questions) questions += question + "\n";
  return fmt::format("{}: {}\n{}{}\n{}\n{} x {}", plan.study.id(), plan.study.title, questions, remarks(plan),
                     table.text(console, 0), base::counted(std::ssize(plan.cells), "cell"),
                     repeats_text(plan.study));
}

}  // namespace

std::string plan_text(const lab::StudyPlan& plan, const Console& console) {
  return cells_text(plan, console) +
         fmt::format(", about {} in all\n", format_time_to_go(total_seconds(plan)));
}

std::string resumed_plan_text(const lab::StudyPlan& plan, const lab::StudyState& state,
                              const Console& console) {
  if (state.runs_to_go() == 0) return cells_text(plan, console) + "; nothing is left to run\n";
  return cells_text(plan, console) + fmt::format("; {} to go, about {}\n",
                                                 base::counted(state.runs_to_go(), "run"),
                                                 format_time_to_go(state.seconds_to_go()));
}

Json plan_json(const lab::StudyPlan& plan) {
  Json json = study_head(plan);
  json["repeats"] = {{"min", plan.study.repeats.least}, {"max", plan.study.repeats.most}};
  json["estimate_seconds"] = total_seconds(plan);
  json["cells"] = Json::array();
  for (const std::size_t index : running_order(plan)) json["cells"].push_back(plan_cell(plan.cells[index]));
  return json;
}

std::string outcome_text(const lab::StudyPlan& plan, const lab::StudyOutcome& outcome,
                         const Console& console) {
  TextTable table({{"cell", false}, {"repeats"}, {"ended", false}});
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const lab::CellEnd& end = outcome.cells[i];
    const std::string lead = end.kind == lab::EndKind::cannot_run ? "cannot run here: " : "";
    table.add({plan.cells[i].cell.name, std::to_string(outcome.repeats[i]),
               console.styled(lead + end.text, tone_of(end.kind)) +
                   (plan.cells[i].oversubscribed && outcome.repeats[i] > 0 ? " (oversubscribed)" : "")});
  }
  return fmt::format("{}: {}\n{}\n{}\n{} now, {} from earlier{}. {}.\n", plan.study.id(), plan.study.title,
                     remarks(plan), table.text(console, 0), base::counted(outcome.runs, "run"), outcome.kept,
                     other_runs_text(outcome), how_it_ended(outcome));
}

Json outcome_json(const lab::StudyPlan& plan, const lab::StudyOutcome& outcome) {
  Json json = study_head(plan);
  json["end"] = outcome.end == lab::StudyOutcome::End::done     ? "done"
                : outcome.end == lab::StudyOutcome::End::budget ? "budget"
                                                                : "interrupted";
  json["runs"] = outcome.runs;
  json["kept"] = outcome.kept;
  json["of_other_versions"] = outcome.of_other_versions;
  json["removed"] = outcome.removed;
  json["cells"] = Json::array();
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    Json cell = plan_cell(plan.cells[i]);
    cell["repeats"] = outcome.repeats[i];
    cell["end"] = outcome.cells[i].text;
    cell["failed"] = outcome.cells[i].kind == lab::EndKind::failed;
    json["cells"].push_back(std::move(cell));
  }
  return json;
}

}  // namespace lockstep::cli
