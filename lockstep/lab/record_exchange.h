// Records that travel: out of a store as JSON Lines or CSV, into another one as runs of their own.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lockstep/lab/run_directory.h"
#include "lockstep/record/record.h"

namespace lockstep::lab {

// Without the second of two equal records: a run counts once, however often it was named. Throws DataError
// where two records of one id differ.
std::vector<record::RunRecord> each_once(std::vector<record::RunRecord> records);

// One record a line, whole.
std::string to_json_lines(std::span<const record::RunRecord> records);

// One row a record: where it belongs, how it ended, every field of its spec, and every figure of
// run_figures.h. What a record does not hold is an empty cell. Numbers read back into the same ones.
std::string to_csv(std::span<const record::RunRecord> records);

// Records of a file (JSON Lines, one record as JSON, or a study with them), of a run's directory, or of all
// runs of a store. Throws DataError with file and line for what is no record.
std::vector<record::RunRecord> read_records(const std::filesystem::path& from);

enum class Imported { added, known };
// Makes a run of the record, under the id it has; one that is here already is left alone. Throws
// DataError when another record has that id.
Imported import_record(const std::filesystem::path& store, const record::RunRecord& record);

}  // namespace lockstep::lab
