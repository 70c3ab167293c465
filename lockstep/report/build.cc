#include "lockstep/report/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "lockstep/base/counted.h"
#include "lockstep/base/error.h"
#include "lockstep/base/printable.h"
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

// "minutes-2", as files are named: the second chart of that name.
struct NumberedChart {
  std::string name;
  std::size_t number = 0;
};

std::optional<NumberedChart> numbered_chart(const std::string& text) {
  const std::size_t dash = text.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  const std::string name = text.substr(0, dash), digits = text.substr(dash + 1);
  const bool number =
      !digits.empty() && digits.size() < 4 && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!number || !contains(chart_names(), name)) return std::nullopt;
  return NumberedChart{name, static_cast<std::size_t>(std::stoul(digits))};
}

void check_names(const std::vector<std::string>& only) {
  std::vector<std::string> known = table_names();
  for (const std::string& name : chart_names())
    if (!contains(known, name)) known.push_back(name);
  for (const std::string& name : only)
    if (!contains(known, name) && !numbered_chart(name))
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

// Whether a view is shown: all are where none was chosen, else those that were named.
bool is_chosen(const std::vector<std::string>& only, const std::string& name) {
  return only.empty() || contains(only, name);
}

std::set<std::size_t> chosen_numbers(const std::vector<std::string>& only, const std::string& name) {
  std::set<std::size_t> numbers;
  for (const std::string& text : only)
    if (const auto wanted = numbered_chart(text); wanted && wanted->name == name)
      numbers.insert(wanted->number);
  return numbers;
}

void require_numbers(const std::set<std::size_t>& numbers, const std::string& name, std::size_t count) {
  for (const std::size_t number : numbers)
    if (number == 0 || number > count)
      throw base::UsageError(fmt::format("there is no chart '{}-{}': these records give {} of that name.",
                                         name, number, base::counted(count, "chart")));
}

// Charts of which only some are shown agree with the others of their name all the same.
void add_charts(Report& report, const Subject& subject, const std::vector<std::string>& only) {
  Charts charts;
  std::vector<bool> shown;
  for (const std::string& name : only.empty() ? wanted_charts(subject.study) : chart_names()) {
    const bool all = is_chosen(only, name);
    const std::set<std::size_t> numbers = chosen_numbers(only, name);
    if (!all && numbers.empty()) continue;
    Charts made = make_charts(name, subject);
    require_numbers(numbers, name, made.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      charts.push_back(std::move(made[i]));
      shown.push_back(all || numbers.contains(i + 1));
    }
  }
  agree_styles(charts);
  for (std::size_t i = 0; i < charts.size(); ++i)
    if (shown[i]) report.charts.push_back(std::move(charts[i]));
}

void add_tables(Report& report, const Subject& subject, const std::vector<std::string>& only) {
  for (const std::string& name : only.empty() ? wanted_tables(subject.study) : table_names())
    if (is_chosen(only, name))
      if (auto table = make_table(name, subject)) report.tables.push_back(std::move(*table));
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

// Names, titles and warnings may come from anybody's records; the formats write what they find.
template <class... Texts>
void make_lines(Texts&... texts) {
  ((texts = base::printable_line(texts)), ...);
}

template <class... Texts>
void make_paragraphs(Texts&... texts) {
  ((texts = base::printable(texts)), ...);
}

void make_printable(Table& table) {
  make_lines(table.title);
  make_paragraphs(table.note);
  for (TableColumn& column : table.columns) {
    make_lines(column.key, column.heading, column.unit, column.published_by);
    make_paragraphs(column.definition);
  }
  for (auto& row : table.rows)
    for (TableValue& cell : row) make_lines(cell.text);
}

void make_printable(ChartAxis& axis) {
  make_lines(axis.label, axis.unit);
  for (std::string& category : axis.categories) make_lines(category);
}

void make_printable(Chart& chart) {
  make_lines(chart.title);
  make_paragraphs(chart.description, chart.note);
  make_printable(chart.x);
  make_printable(chart.y);
  for (ChartSeries& series : chart.series) make_lines(series.name, series.part, series.within);
  for (ChartRule& rule : chart.rules) make_lines(rule.label);
  for (ChartMark& mark : chart.marks) make_lines(mark.label);
}

void make_printable(Paragraph& paragraph) {
  make_lines(paragraph.question);
  for (Sentence& sentence : paragraph.sentences) {
    make_lines(sentence.finding);
    make_paragraphs(sentence.text);
    for (Evidence& evidence : sentence.rests_on) make_lines(evidence.field, evidence.cell, evidence.value);
  }
}

void make_printable(Report& report) {
  make_lines(report.first_line, report.title);
  make_paragraphs(report.notes);
  for (Paragraph& paragraph : report.words) make_printable(paragraph);
  for (Table& table : report.tables) make_printable(table);
  for (Chart& chart : report.charts) make_printable(chart);
  for (PublishedNote& note : report.published) {
    make_lines(note.name, note.source);
    make_paragraphs(note.definition);
  }
  for (std::string& warning : report.warnings) make_paragraphs(warning);
  for (std::string& machine : report.machines) make_lines(machine);
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
  add_tables(report, subject, options.only);
  add_charts(report, subject, options.only);
  make_printable(report);
  return report;
}

}  // namespace lockstep::report
