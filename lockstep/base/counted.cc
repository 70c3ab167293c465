#include "lockstep/base/counted.h"

#include <fmt/format.h>

namespace lockstep::base {

std::string counted(std::int64_t count, std::string_view one, std::string_view several) {
  if (count == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, several);
}

}  // namespace lockstep::base
