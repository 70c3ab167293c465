// Where temporary files go.
#pragma once

#include <filesystem>

namespace lockstep::launch {

// TMPDIR where that is a directory, else /tmp, with a warning when TMPDIR names something else. Throws
// StoreError when neither is there.
std::filesystem::path temporary_place();

}  // namespace lockstep::launch
