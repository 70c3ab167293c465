// Files that are whole or absent, also after a power cut: written beside their place, synchronised, and
// renamed into it for good.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep::lab {

// Throws StoreError with the likely cause and the next step (a full disk, a directory that cannot be
// written).
void write_atomically(const std::filesystem::path& file, std::string_view text);

// The whole file. Throws StoreError.
std::string read_whole(const std::filesystem::path& file);

// What to do about an error number of the store: " Next step: free space on ...".
std::string store_next_step(int error_number, const std::filesystem::path& place);

}  // namespace lockstep::lab
