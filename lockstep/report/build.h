// From records to a report.
#pragma once

#include <string>
#include <vector>

#include "lockstep/lab/study.h"
#include "lockstep/record/record.h"
#include "lockstep/report/model/grid.h"
#include "lockstep/report/model/report.h"

namespace lockstep::report {

// What a report is about. `study` may be null: records that belong to none.
struct Source {
  const lab::Study* study = nullptr;
  std::vector<CellNote> notes;
  std::vector<record::RunRecord> records;
};

struct BuildOptions {
  std::vector<std::string> only;  // tables and charts by name; empty: what the study asks for, else all
};

// Throws ConfigError for a name that is neither a table nor a chart, and when there are no records at all.
Report build_report(Source source, const BuildOptions& options);

}  // namespace lockstep::report
