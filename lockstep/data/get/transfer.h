// Fetching one address into one file, through libcurl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "lockstep/base/clock.h"

namespace lockstep::data {

struct TransferOptions {
  base::Nanoseconds connect_timeout = std::chrono::seconds(20);
  // A transfer that moves nothing for this long is given up.
  base::Nanoseconds stall_timeout = std::chrono::seconds(60);
  // Bytes so far and in all (0: not known yet). Called from the thread that fetches.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress;
};

struct TransferResult {
  bool done = false;
  bool unreachable = false;  // no name, no route, no answer: the machine may be offline
  std::string error;         // when not done
};

// Appends to `part` what it does not hold yet (a server that cannot resume sends all of it again).
TransferResult fetch(const std::string& address, const std::filesystem::path& part,
                     const TransferOptions& options);

}  // namespace lockstep::data
