// What `lockstep report` was asked to report on: studies and runs of the store, and files of records or
// studies.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/lab/study.h"
#include "lockstep/report/build.h"

namespace lockstep::cli {

struct ReportSource {
  std::optional<lab::Study> study;  // where exactly one was named
  std::vector<report::CellNote> notes;
  std::vector<record::RunRecord> records;
};

// Each name is a file (a record, a list of records, JSON Lines of records, a study's YAML), a run's
// directory, a study that the store has runs of, or a run's id or its beginning. Records of files and runs
// given beside a study join its cells. Throws ConfigError with what was likely meant, DataError for a file
// that holds no records, StoreError for one that cannot be read.
ReportSource find_report_source(const std::filesystem::path& store, const std::vector<std::string>& names);

}  // namespace lockstep::cli
