#include "lockstep/cli/runs/named_records.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/record_exchange.h"
#include "lockstep/lab/run_index.h"
#include "lockstep/lab/study_store.h"

namespace lockstep::cli {

std::filesystem::path store_of(const std::optional<std::filesystem::path>& given,
                               const std::vector<std::string>& names) {
  const bool all_are_files = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(name, ignored);
  });
  return all_are_files ? lab::find_store(given) : lab::find_existing_store(given);
}

std::vector<record::RunRecord> named_records(const std::filesystem::path& store, const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(name, ignored)) return lab::each_once(lab::read_records(name));
  std::vector<record::RunRecord> records;
  if (const auto study = lab::stored_study(store, name))
    records = lab::records_of(store, *study);
  else
    records = lab::records_of_study(store, name);  // as when they were imported without their study
  if (!records.empty()) return records;
  return {lab::read_record(lab::RunDirectory::open(store, name))};
}

}  // namespace lockstep::cli
