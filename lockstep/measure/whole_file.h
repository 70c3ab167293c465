// Writes a file that is whole or absent: into a draft beside it, which takes its name at the end.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>

namespace lockstep::measure {

// Throws StoreError when the file cannot be written (a full disk, say), and leaves nothing behind then.
// A link is followed; what is no plain file (a device, a pipe) is written to as it stands.
void write_whole_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

}  // namespace lockstep::measure
