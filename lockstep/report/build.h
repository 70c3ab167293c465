// From records to a report.
#pragma once

#include <string>
#include <vector>

#include "lockstep/lab/study.h"
#include "lockstep/record/record.h"
#include "lockstep/report/model/report.h"

namespace lockstep::report {

struct BuildOptions {
  std::vector<std::string> only;  // tables and charts by name; empty: what the study asks for, else all
};

// `study` may be null: records that belong to none. Throws ConfigError for a name that is neither a table nor a
// chart, and when there are no records at all.
Report build_report(const lab::Study* study, std::vector<record::RunRecord> records, const BuildOptions& options);

}  // namespace lockstep::report
