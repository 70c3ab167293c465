// What the program that is tested has synchronised to disk.
#pragma once

#include <filesystem>
#include <set>

namespace lockstep::testing {

// By name, since the test cleared it.
std::set<std::filesystem::path>& synchronised();

}  // namespace lockstep::testing
