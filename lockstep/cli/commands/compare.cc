#include "lockstep/cli/commands/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/log.h"
#include "lockstep/base/text.h"
#include "lockstep/cli/runs/named_records.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/text_table.h"
#include "lockstep/lab/compare.h"
#include "lockstep/lab/run_directory.h"
#include "lockstep/report/model/display.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;
using lab::ComparedCell;
using lab::ComparedFigure;
using lab::DifferingField;

// What is shown when no figure is named: what people ask about first.
const std::vector<std::string>& usual_figures() {
  static const std::vector<std::string> kFigures = {
      "step_seconds", "samples_per_second", "exposed_seconds", "data_seconds", "train_loss",   "val_loss",
      "val_accuracy", "val_psnr",           "peak_bytes",      "wire_bytes",   "total_seconds"};
  return kFigures;
}

Setter percent(std::optional<double>& target) {
  return [&target](const std::string& typed) {
    std::string digits = typed;
    const bool is_percent = digits.ends_with('%');
    if (is_percent) digits.pop_back();
    double value = 0;
    number(value)(digits);
    if (value < 0) throw base::UsageError("a threshold is not negative.");
    target = is_percent ? value / 100 : value;
  };
}

// Why nobody knows the noise: a side without repeats, or a figure that is not finite.
std::string unknown_noise(const ComparedFigure& figure) {
  if (figure.count_a < 2 && figure.count_b < 2) return "one run each";
  if (figure.count_a < 2 || figure.count_b < 2)
    return fmt::format("one run in {}", figure.count_a < 2 ? "A" : "B");
  return "not every run's figure is finite";
}

std::string verdict(const ComparedFigure& figure) {
  const std::optional<bool> differs = figure.differs();
  if (!differs)
    return figure.difference.difference == 0 ? "the same" : unknown_noise(figure) + ": cannot tell";
  if (!*differs) return figure.difference.difference == 0 ? "the same" : "within the noise";
  const std::optional<double> worse = figure.worse();
  if (!worse) return "differs";
  return *worse > 0 ? "worse" : "better";
}

std::string interval_text(const ComparedFigure& figure) {
  const auto& interval = figure.difference.interval;
  const double a = std::abs(figure.difference.mean_a);
  if (!interval || a == 0 || std::isnan(interval->low) || std::isnan(interval->high)) return "";
  return fmt::format("{:+.1f} to {:+.1f} %{}", 100 * interval->low / a, 100 * interval->high / a,
                     figure.of_steps ? " (steps)" : "");
}

Tone tone_of(const ComparedFigure& figure) {
  const std::string said = verdict(figure);
  return said == "worse" ? Tone::bad : said == "better" ? Tone::good : Tone::plain;
}

// A run of no study has its spec's hash for a cell: the beginning is what people can tell it by.
std::string shown_name(const std::string& cell) {
  constexpr std::size_t kHashDigits = 64, kShown = 8;
  const bool is_hash =
      cell.size() == kHashDigits && cell.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash ? "spec " + cell.substr(0, kShown) : cell;
}

bool has_field(const ComparedCell& cell, const DifferingField& field) {
  return std::find(cell.differing.begin(), cell.differing.end(), field) != cell.differing.end();
}

// The fields in which the two sides differ in every cell that both have.
std::vector<DifferingField> differing_everywhere(const std::vector<ComparedCell>& cells) {
  std::optional<std::vector<DifferingField>> common;
  for (const ComparedCell& cell : cells) {
    if (!cell.only_in.empty()) continue;
    if (!common) common = cell.differing;
    std::erase_if(*common, [&](const DifferingField& field) { return !has_field(cell, field); });
  }
  return common.value_or(std::vector<DifferingField>());
}

// "specs differ: data (mnist in A, digits in B), epochs (1 in A, 2 in B)".
std::string differing_text(const std::vector<DifferingField>& fields, const Console& console) {
  if (fields.empty()) return "";
  std::vector<std::string> texts;
  for (const DifferingField& field : fields)
    texts.push_back(fmt::format("{} ({} in A, {} in B)", field.name, field.a, field.b));
  return console.styled("specs differ", Tone::warning) + ": " + base::join(texts, ", ") + "\n";
}

// Without what was said for all cells.
std::vector<DifferingField> own_differences(const ComparedCell& cell,
                                            const std::vector<DifferingField>& everywhere) {
  std::vector<DifferingField> own = cell.differing;
  std::erase_if(own, [&](const DifferingField& field) {
    return std::find(everywhere.begin(), everywhere.end(), field) != everywhere.end();
  });
  return own;
}

std::string figures_text(const ComparedCell& cell, const Console& console) {
  TextTable table({{"figure", false},
                   {"mean A"},
                   {"mean B"},
                   {"unit", false},
                   {"difference"},
                   {"95 % interval"},
                   {"", false}});
  for (const ComparedFigure& figure : cell.figures) {
    const std::optional<double> relative = figure.relative();
    const double a = figure.difference.mean_a, b = figure.difference.mean_b;
    const report::DisplayUnit unit =
        report::display_unit(figure.figure->unit, std::max(std::abs(a), std::abs(b)));
    table.add({std::string(figure.figure->name), report::display_number(a / unit.divisor),
               report::display_number(b / unit.divisor), unit.name,
               relative ? fmt::format("{:+.1f} %", 100 * *relative) : "", interval_text(figure),
               console.styled(verdict(figure), tone_of(figure))});
  }
  return table.text(console);
}

std::string cell_text(const ComparedCell& cell, const std::vector<DifferingField>& everywhere,
                      const Console& console) {
  const std::string heading =
      cell.cell.empty() ? "" : console.styled(shown_name(cell.cell), Tone::heading) + "\n";
  if (!cell.only_in.empty()) return heading + "  only in " + cell.only_in + "\n";
  const std::string differences = differing_text(own_differences(cell, everywhere), console);
  return heading + (differences.empty() ? "" : "  " + differences) + figures_text(cell, console);
}

std::string text_of(const std::vector<ComparedCell>& cells, const std::vector<std::string>& sides,
                    const Console& console) {
  const std::vector<DifferingField> everywhere = differing_everywhere(cells);
  std::string text =
      fmt::format("A: {}\nB: {}\n{}\n", sides[0], sides[1], differing_text(everywhere, console));
  for (const ComparedCell& cell : cells) text += cell_text(cell, everywhere, console);
  return text;
}

Json figure_json(const ComparedFigure& figure) {
  Json json = {{"figure", figure.figure->name},
               {"unit", figure.figure->unit},
               {"a", figure.difference.mean_a},
               {"b", figure.difference.mean_b},
               {"repeats_a", figure.count_a},
               {"repeats_b", figure.count_b},
               {"difference", figure.difference.difference}};
  if (const auto& interval = figure.difference.interval) json["ci95"] = {interval->low, interval->high};
  if (figure.of_steps) json["ci95_of"] = "steps";
  if (const auto relative = figure.relative()) json["relative"] = *relative;
  if (const auto differs = figure.differs()) json["significant"] = *differs;
  json["verdict"] = verdict(figure);
  return json;
}

Json json_of(const std::vector<ComparedCell>& cells) {
  Json all = Json::array();
  for (const ComparedCell& cell : cells) {
    Json json = {{"cell", cell.cell}};
    if (!cell.only_in.empty()) json["only_in"] = cell.only_in;
    for (const DifferingField& field : cell.differing)
      json["specs_differ"][field.name] = {{"a", field.a}, {"b", field.b}};
    json["figures"] = Json::array();
    for (const ComparedFigure& figure : cell.figures) json["figures"].push_back(figure_json(figure));
    all.push_back(std::move(json));
  }
  return all;
}

std::string worse_text(const ComparedCell& cell, const ComparedFigure& figure) {
  const std::string name =
      fmt::format("{}{}", cell.cell.empty() ? "" : shown_name(cell.cell) + ": ", figure.figure->name);
  return figure.lost() ? name + " is not finite in B"
                       : fmt::format("{} is {:.1f} % worse", name, 100 * *figure.worse());
}

std::vector<std::string> missed(const std::vector<ComparedCell>& cells, double threshold) {
  std::vector<std::string> worse;
  for (const ComparedCell& cell : cells)
    for (const ComparedFigure& figure : cell.figures)
      if (figure.misses(threshold)) worse.push_back(worse_text(cell, figure));
  return worse;
}

// With why that cannot be held against B.
std::vector<std::string> undecided(const std::vector<ComparedCell>& cells, double threshold) {
  std::vector<std::string> worse;
  for (const ComparedCell& cell : cells)
    for (const ComparedFigure& figure : cell.figures)
      if (figure.undecided(threshold))
        worse.push_back(fmt::format("{} ({})", worse_text(cell, figure), unknown_noise(figure)));
  return worse;
}

// A threshold that judged nothing must not look kept.
void require_compared(const std::vector<ComparedCell>& cells, const std::vector<std::string>& sides) {
  if (std::any_of(cells.begin(), cells.end(), [](const ComparedCell& cell) { return !cell.figures.empty(); }))
    return;
  throw base::ConfigError(
      fmt::format("nothing was compared: {} and {} have no cell in common in which both have one of the "
                  "figures. Next step: look at both with lockstep report.",
                  sides[0], sides[1]));
}

void judge(const std::vector<ComparedCell>& cells, double threshold) {
  if (const auto unknown = undecided(cells, threshold); !unknown.empty())
    base::log_warning(
        fmt::format("{}: whether that is noise cannot be told without repeats on both sides, and it is not "
                    "held against B. Repeat the runs.",
                    base::join(unknown, "; ")));
  if (const auto misses = missed(cells, threshold); !misses.empty())
    throw base::ThresholdError(fmt::format("{}, more than the threshold of {:.1f} % allows.",
                                           base::join(misses, "; "), 100 * threshold));
}

}  // namespace

std::vector<Example> CompareCommand::examples() const {
  return {
      {"lockstep compare 20260102T03 20260102T04", "two runs, by the beginnings of their ids"},
      {"lockstep compare quickstart old.jsonl", "a study and records that `runs export` wrote"},
      {"lockstep compare old.jsonl new.jsonl --figure step_seconds --threshold 5%",
       "for CI: exit code 5 when B is slower by more than 5 % and more than the noise"},
  };
}

std::vector<Flag> CompareCommand::flags() {
  return {
      {.names = "sides",
       .value = "A B",
       .help = "runs, studies, or files of records",
       .set = [this](const std::string& typed) { sides_.push_back(typed); }},
      {.names = "--figure",
       .value = "NAMES",
       .help = "compare these figures alone, with commas between them (all: every one there is)",
       .known_values = lab::run_figure_names(),
       .list = true,
       .set = words(figures_)},
      {.names = "--threshold",
       .value = "SHARE",
       .help =
           "exit with 5 when a figure of B is worse by more than this, as in 5%, and by more than the noise",
       .set = percent(threshold_)},
      {.names = "--json", .help = "print one JSON document", .set = turn_on(json_)},
      {.names = "--store",
       .value = "DIR",
       .help = "where runs are kept (default: LOCKSTEP_STORE, else the XDG data directory)",
       .set = [this](const std::string& typed) { store_ = typed; }}};
}

int CompareCommand::run(const Invocation& invocation) {
  if (sides_.size() != 2)
    throw base::UsageError("compare takes two sides, runs, studies or files: lockstep compare A B.");
  std::vector<std::string> wanted = figures_.empty() ? usual_figures() : figures_;
  if (wanted == std::vector<std::string>{"all"}) wanted = lab::run_figure_names();
  for (const std::string& figure : wanted) require_known("figure", figure, lab::run_figure_names());
  const std::filesystem::path store = store_of(store_, sides_);
  const auto a = named_records(store, sides_[0]), b = named_records(store, sides_[1]);
  const std::vector<ComparedCell> cells = lab::compare(a, b, wanted);
  invocation.console.print(json_ ? base::json_text(json_of(cells), 2) + "\n"
                                 : text_of(cells, sides_, invocation.console));
  require_compared(cells, sides_);
  if (threshold_) judge(cells, *threshold_);
  return 0;
}

}  // namespace lockstep::cli
