// `lockstep runs list` as people read it and as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lockstep/cli/console.h"
#include "lockstep/lab/run_index.h"

namespace lockstep::cli {

std::string runs_text(const std::vector<lab::IndexedRun>& runs, const Console& console);
nlohmann::ordered_json runs_json(const std::vector<lab::IndexedRun>& runs,
                                 const std::filesystem::path& store);

}  // namespace lockstep::cli
