#include "lockstep/cli/runs/named_records.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/record_exchange.h"
#include "lockstep/lab/run_index.h"
#include "lockstep/lab/study_store.h"

namespace lockstep::cli {

std::vector<record::RunRecord> named_records(const std::filesystem::path& store, const std::string& name) {
  if (std::filesystem::is_regular_file(name)) return lab::each_once(lab::read_records(name));
  std::vector<record::RunRecord> records;
  if (const auto study = lab::stored_study(store, name))
    records = lab::records_of(store, *study);
  else
    records = lab::records_of_study(store, name);  // as when they were imported without their study
  if (!records.empty()) return records;
  return {lab::read_record(lab::RunDirectory::open(store, name))};
}

}  // namespace lockstep::cli
