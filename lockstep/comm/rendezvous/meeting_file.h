// The file through which ranks that no launcher of ours started find their run's key, and where rank 0
// serves: in a store that all of them see, mode 0600, named after what they know alike (a Slurm job's step, a
// job of mpirun, the address they were told). Whoever comes first makes it; rank 0 adds where it serves, and
// removes it when everybody has come.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/comm/rendezvous/socket.h"

namespace lockstep::comm {

// What a rank knows of the place where its run meets.
struct MeetingPoint {
  std::string key;
  std::optional<Endpoint> server;  // nothing: rank 0 has not said yet
  bool said_by_rank_0 = true;      // false: `server` is where the ranks were told to look
};

class MeetingFile {
 public:
  // Throws ConfigError, with both ways out, when there is no directory to keep it in.
  MeetingFile(const std::filesystem::path& directory, const std::string& job);
  // Removes the file if it is rank 0's, or was made by this object and rank 0 has not come.
  ~MeetingFile();
  MeetingFile(const MeetingFile&) = delete;
  MeetingFile& operator=(const MeetingFile&) = delete;

  // What the file says; makes it, with a new key, when there is none. However many processes call this at
  // once, all get the same key. Throws StoreError when the file belongs to somebody else or others may read
  // it.
  MeetingPoint read_or_make();

  // Rank 0's, once each, in this order. A file in which an earlier rank 0 said where it serves is a dead
  // run's: it is replaced.
  std::string take_key();
  void say(const Endpoint& server);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::optional<MeetingPoint> read() const;
  void make();

  std::filesystem::path path_;
  std::string key_;     // that it made, or took as rank 0
  bool leads_ = false;  // it is rank 0's
};

}  // namespace lockstep::comm
