#include "lockstep/train/worker/stored_spec.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"

namespace lockstep::train {

record::RunSpec read_stored_spec(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) throw base::StoreError(fmt::format("cannot read {}: {}.", path.string(), base::errno_text()));
  try {
    return record::spec_from_json(nlohmann::json::parse(stream), path.string());
  } catch (const nlohmann::json::exception& error) {
    throw base::StoreError(fmt::format("{} is not JSON: {}.", path.string(), error.what()));
  }
}

}  // namespace lockstep::train
