#include "lockstep/report/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lockstep/base/counted.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/completeness.h"
#include "lockstep/report/model/grid_axes.h"
#include "lockstep/report/tables/tables.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

using record::RunRecord;

constexpr std::size_t kMostWarnings = 12;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_names(const std::vector<std::string>& only) {
  std::vector<std::string> known = table_names();
  for (const std::string& name : chart_names())
    if (!contains(known, name)) known.push_back(name);
  for (const std::string& name : only)
    if (!contains(known, name))
      throw base::UsageError(fmt::format("there is no table or chart '{}'.{} There are: {}.", name,
                                         base::suggestion(name, known), base::join(known, ", ")));
}

// What a study asks for, with the summary first and the projection and published figures wherever there are
// any.
std::vector<std::string> wanted_tables(const lab::Study* study) {
  if (study == nullptr || study->tables.empty()) return table_names();
  std::vector<std::string> names = study->tables;
  if (!contains(names, "summary")) names.insert(names.begin(), "summary");
  for (const char* always : {"projection", "published"})
    if (!contains(names, always)) names.emplace_back(always);
  return names;
}

std::vector<std::string> wanted_charts(const lab::Study* study) {
  return study == nullptr || study->charts.empty() ? chart_names() : study->charts;
}

void add_views(Report& report, const Subject& subject, const BuildOptions& options) {
  const auto chosen = [&](const std::string& name) {
    return options.only.empty() || contains(options.only, name);
  };
  for (const std::string& name : options.only.empty() ? wanted_tables(subject.study) : table_names())
    if (chosen(name))
      if (auto table = make_table(name, subject)) report.tables.push_back(std::move(*table));
  for (const std::string& name : options.only.empty() ? wanted_charts(subject.study) : chart_names())
    if (chosen(name))
      for (Chart& chart : make_charts(name, subject)) report.charts.push_back(std::move(chart));
}

std::string title_of(const lab::Study* study, const std::vector<RunRecord>& records) {
  if (study != nullptr) return study->title.empty() ? study->name : study->title;
  if (records.size() > 1) return fmt::format("{} runs", records.size());
  return fmt::format("{} on {}, {}", field_text(records.front(), "model"),
                     field_text(records.front(), "data"),
                     point_text({"workers", std::to_string(records.front().workers)}));
}

void add_warnings(Report& report, const std::vector<RunRecord>& records) {
  std::set<std::string> seen;
  for (const RunRecord& record : records)
    for (const std::string& warning : record.warnings) seen.insert(warning);
  for (const std::string& warning : seen) {
    if (report.warnings.size() == kMostWarnings) {
      report.warnings.push_back(
          fmt::format("The records hold {}.", base::counted(seen.size() - kMostWarnings, "more warning")));
      return;
    }
    report.warnings.push_back(warning);
  }
}

void add_machines(Report& report, const std::vector<RunRecord>& records) {
  std::set<std::string> machines;
  for (const RunRecord& record : records) machines.insert(machine_text(record));
  report.machines.assign(machines.begin(), machines.end());
}

void add_published(Report& report, const lab::Study* study) {
  if (study == nullptr) return;
  for (const lab::Published& column : study->published)
    report.published.push_back({column.name, column.source, column.definition});
}

// A study that came from a file is found by that file; its name alone finds only those that are installed.
std::string command_of(const lab::Study& study) {
  return fmt::format("lockstep study {}{}", study.file_name.empty() ? "FILE" : study.file_name,
                     study.choice.quick ? " --quick" : "");
}

}  // namespace

Report build_report(Source source, const BuildOptions& options) {
  check_names(options.only);
  const lab::Study* study = source.study;
  const std::vector<RunRecord>& records = source.records;
  if (records.empty())
    throw base::ConfigError(
        study == nullptr
            ? "there are no records to report on. `lockstep runs list` shows what there is."
            : fmt::format("study {} has no records yet. Run it: {}", study->id(), command_of(*study)));
  Report report;
  report.run_count = records.size();
  report.first_line = first_line(study, source.notes, records);
  report.title = title_of(study, records);
  report.notes = study == nullptr ? "" : study->notes;
  add_warnings(report, records);
  add_machines(report, records);
  add_published(report, study);
  const Grid grid = make_grid(study, source.notes, std::move(source.records));
  report.warnings.insert(report.warnings.end(), grid.warnings.begin(), grid.warnings.end());
  const Subject subject{grid, study};
  report.words = words_of(subject);
  add_views(report, subject, options);
  return report;
}

}  // namespace lockstep::report
