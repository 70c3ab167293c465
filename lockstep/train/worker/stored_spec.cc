#include "lockstep/train/worker/stored_spec.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::train {

record::RunSpec read_stored_spec(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << stream.rdbuf()))
    throw base::StoreError(fmt::format("cannot read {}: {}.", path.string(), base::errno_text()));
  try {
    return record::spec_from_json(base::parse_json(text.str()), path.string());
  } catch (const nlohmann::json::exception& error) {
    throw base::StoreError(fmt::format("{} is not JSON: {}.", path.string(), error.what()));
  }
}

}  // namespace lockstep::train
