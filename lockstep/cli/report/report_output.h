// Where a report goes: standard output, a file, or a directory of files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/cli/console.h"
#include "lockstep/report/formats/formats.h"

namespace lockstep::cli {

struct ReportOutput {
  std::string format;                         // empty: from the output's name, else term
  std::optional<std::filesystem::path> path;  // none: standard output
  bool explain = false;
};

// Fills in the format. Throws UsageError for a name whose ending says none.
void complete(ReportOutput& output);

// csv and svg into a directory write a file for each table or chart; markdown into a file puts its charts
// into a folder beside it. Throws UsageError for several charts on standard output, StoreError for what
// cannot be written.
void write_report(const report::Report& report, const ReportOutput& output, const Console& console);

}  // namespace lockstep::cli
