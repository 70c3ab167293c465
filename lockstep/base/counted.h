// How many of something, in words: "1 run", "2 runs".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::base {

// `several` where an s does not make it: counted(2, "directory", "directories").
std::string counted(std::int64_t count, std::string_view one, std::string_view several = {});

}  // namespace lockstep::base
