// Taking files out of what was fetched.
#pragma once

#include <span>
#include <string>

#include "lockstep/data/files.h"

namespace lockstep::data {

// The content of one regular file of a tar archive (ustar). Throws DataError when it is not there, or the
// archive is damaged.
std::span<const std::uint8_t> find_in_tar(std::span<const std::uint8_t> archive, const std::string& path,
                                          const std::string& archive_name);

}  // namespace lockstep::data
