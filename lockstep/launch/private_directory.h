// A directory only this user can enter, for as long as its owner lives.
#pragma once

#include <filesystem>

#include "lockstep/base/unique_fd.h"

namespace lockstep::launch {

class PrivateDirectory {
 public:
  // Makes it in memory where the machine has /dev/shm, else among the temporary files. Removes those that
  // launchers left which were killed. Throws StoreError.
  PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  ~PrivateDirectory();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  base::UniqueFd lock_;  // held while we live: whoever gets it knows that the directory is abandoned
};

}  // namespace lockstep::launch
