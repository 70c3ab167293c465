// `lockstep data get`: brings a published set onto this machine. Every file is fetched into a .part file
// beside its place (a later call goes on where this one stopped), unpacked, checked, and only then renamed to
// its name: a file of the set is whole or absent.
#pragma once

#include <filesystem>

#include "lockstep/data/get/sources.h"
#include "lockstep/data/get/transfer.h"

namespace lockstep::data {

struct GetResult {
  std::filesystem::path directory;
  int files_fetched = 0;
  int files_present = 0;  // were there already, and whole
};

// `root` is a data directory. Throws DataError that lists what every address answered, says so when the
// machine seems to be offline, and how to put the files there by hand.
GetResult get_set(const RemoteSet& set, const std::filesystem::path& root, const TransferOptions& options);

}  // namespace lockstep::data
