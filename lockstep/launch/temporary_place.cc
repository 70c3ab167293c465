#include "lockstep/launch/temporary_place.h"

#include <fmt/format.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"

namespace lockstep::launch {

std::filesystem::path temporary_place() {
  constexpr const char* kUsual = "/tmp";
  std::error_code ignored;
  const std::string wanted = base::environment("TMPDIR").value_or(kUsual);
  if (std::filesystem::is_directory(wanted, ignored)) return wanted;
  if (!std::filesystem::is_directory(kUsual, ignored))
    throw base::StoreError(
        fmt::format("there is no place for temporary files: {} is not a directory, nor is {}. Next step: set "
                    "TMPDIR to one.",
                    wanted, kUsual));
  base::log_warning(fmt::format("TMPDIR is {}, which is not a directory; using {}", wanted, kUsual));
  return kUsual;
}

}  // namespace lockstep::launch
