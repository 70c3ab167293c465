// A directory only this user can enter, for as long as its owner lives: when the owner is killed, a janitor
// removes it.
#pragma once

#include <filesystem>
#include <memory>

#include "lockstep/base/unique_fd.h"
#include "lockstep/launch/janitor.h"

namespace lockstep::launch {

class PrivateDirectory {
 public:
  // Makes it in memory where the machine has /dev/shm, else among the temporary files. Removes those that
  // launchers left which were killed together with their janitors. To be called before the process has
  // threads. Throws StoreError.
  PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  ~PrivateDirectory();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  base::UniqueFd lock_;  // held while we live: whoever gets it knows that the directory is abandoned
  std::unique_ptr<Janitor> janitor_;
};

}  // namespace lockstep::launch
