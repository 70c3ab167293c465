// A report as text, one function a format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/report/model/report.h"

namespace lockstep::report {

struct FormatOptions {
  bool explain = false;      // show the fields that each sentence rests on
  std::string chart_folder;  // of markdown: where its charts lie, beside it; empty: it shows none
};

std::string html_of(const Report& report, const FormatOptions& options);
std::string markdown_of(const Report& report, const FormatOptions& options);
std::string latex_of(const Report& report);
std::string json_of(const Report& report);
std::string terminal_of(const Report& report, const FormatOptions& options);

// All tables, each after a line "# name: title"; and one of them alone.
std::string csv_of(const Report& report);
std::string csv_of(const Table& table);

// Names for files of tables and charts: their own, numbered where there are several.
std::vector<std::string> file_names(const std::vector<Table>& tables);
std::vector<std::string> file_names(const std::vector<Chart>& charts);

inline constexpr const char* kFormats[] = {"html", "md", "csv", "latex", "svg", "json", "term"};

}  // namespace lockstep::report
