#include "lockstep/cli/report/report_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/measure/whole_file.h"
#include "lockstep/report/charts/charts.h"
#include "lockstep/report/svg/draw.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using report::Report;

const std::map<std::string, std::string>& endings() {
  static const std::map<std::string, std::string> kEndings = {
      {".html", "html"}, {".htm", "html"}, {".md", "md"},     {".csv", "csv"},
      {".tex", "latex"}, {".svg", "svg"},  {".json", "json"}, {".txt", "term"}};
  return kEndings;
}

std::string text_of(const Report& report, const ReportOutput& output, const std::string& chart_folder) {
  const report::FormatOptions options{output.explain, chart_folder};
  if (output.format == "html") return report::html_of(report, options);
  if (output.format == "md") return report::markdown_of(report, options);
  if (output.format == "csv") return report::csv_of(report);
  if (output.format == "latex") return report::latex_of(report);
  if (output.format == "json") return report::json_of(report);
  return report::terminal_of(report, options);
}

void write_text(const fs::path& file, const std::string& text) {
  measure::write_whole_file(file, [&text](std::ostream& out) { out << text; });
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw base::StoreError(fmt::format("cannot make the directory {}: {}. Choose another with -o.",
                                       folder.string(), error.message()));
}

void write_charts(const Report& report, const fs::path& folder) {
  make_folder(folder);
  const std::vector<std::string> names = report::file_names(report.charts);
  for (std::size_t i = 0; i < names.size(); ++i)
    write_text(folder / (names[i] + ".svg"), report::draw(report.charts[i], {names[i], true}));
}

void write_tables(const Report& report, const fs::path& folder) {
  make_folder(folder);
  const std::vector<std::string> names = report::file_names(report.tables);
  for (std::size_t i = 0; i < names.size(); ++i)
    write_text(folder / (names[i] + ".csv"), report::csv_of(report.tables[i]));
}

std::string only_chart(const Report& report) {
  if (report.charts.size() == 1) return report::draw(report.charts.front(), {"chart", true});
  throw base::UsageError(
      fmt::format("there are {} charts ({}): choose one with --only NAME, or give a directory with "
                  "-o DIR/.",
                  report.charts.size(), base::join(report::file_names(report.charts), ", ")));
}

bool is_folder(const fs::path& path) {
  return path.filename().empty() || fs::is_directory(path) || !path.has_extension();
}

void write_markdown(const Report& report, const ReportOutput& output) {
  const std::string folder = output.path->stem().string() + "_charts";
  write_charts(report, output.path->parent_path() / folder);
  write_text(*output.path, text_of(report, output, folder));
}

void write_files(const Report& report, const ReportOutput& output) {
  if (output.format == "svg")
    return is_folder(*output.path) ? write_charts(report, *output.path)
                                   : write_text(*output.path, only_chart(report));
  if (output.format == "csv" && is_folder(*output.path)) return write_tables(report, *output.path);
  if (output.format == "md") return write_markdown(report, output);
  write_text(*output.path, text_of(report, output, ""));
}

}  // namespace

void complete(ReportOutput& output) {
  if (!output.format.empty()) return;
  if (!output.path) {
    output.format = "term";
    return;
  }
  const auto found = endings().find(output.path->extension().string());
  if (found == endings().end())
    throw base::UsageError(
        fmt::format("which format shall {} have? Give --format, or a name that ends in .html, .md, "
                    ".csv, .tex, .svg, .json or .txt.",
                    output.path->string()));
  output.format = found->second;
}

namespace {

// The names of tables that no chart has.
std::vector<std::string> mere_tables(const Report& report) {
  const std::vector<std::string> charts = report::chart_names();
  std::vector<std::string> names;
  for (const report::Table& table : report.tables)
    if (std::find(charts.begin(), charts.end(), table.name) == charts.end()) names.push_back(table.name);
  return names;
}

// SVG draws charts alone, and CSV writes tables alone: asked by --only for the other, they would be empty.
void require_content(const Report& report, const ReportOutput& output) {
  if (output.format == "svg" && report.charts.empty()) {
    const std::vector<std::string> tables = mere_tables(report);
    if (tables.empty()) throw base::ConfigError("the records hold nothing that this chart could show.");
    throw base::ConfigError(fmt::format(
        "svg draws charts, and {} {}: `--format` html, md, csv, latex, json and term write tables.",
        base::join(tables, ", "), tables.size() == 1 ? "is a table" : "are tables"));
  }
  if (output.format == "csv" && report.tables.empty())
    throw base::ConfigError(
        "csv writes tables, and there is none: the records hold nothing for it, or --only names "
        "charts alone. `--format svg` and `--format json` write charts.");
}

}  // namespace

void write_report(const Report& report, const ReportOutput& output, const Console& console) {
  require_content(report, output);
  if (!output.path) {
    console.print(output.format == "svg" ? only_chart(report) : text_of(report, output, ""));
    return;
  }
  write_files(report, output);
  console.note(fmt::format("wrote {}\n", output.path->string()));
}

}  // namespace lockstep::cli
