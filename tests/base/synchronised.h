// What the program that is tested has synchronised to disk.
#pragma once

#include <filesystem>
#include <set>

namespace lockstep::testing {

// By name, since forget_synchronised(). From any thread.
std::set<std::filesystem::path> synchronised();
void forget_synchronised();

}  // namespace lockstep::testing
