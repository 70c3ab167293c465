// Reads the spec that `lockstep` stored for its workers.
#pragma once

#include <filesystem>

#include "lockstep/record/spec.h"

namespace lockstep::train {

// Throws StoreError for a file that cannot be read or is no JSON, ConfigError for a spec that is wrong.
record::RunSpec read_stored_spec(const std::filesystem::path& path);

}  // namespace lockstep::train
