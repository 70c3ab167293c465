// Finds out what NCCL moves bytes over: NCCL says it nowhere but in its log. So, before NCCL first speaks in
// this process, its log is turned on and sent to a file that nobody else sees; lines such as
//   host:12:34 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/Socket/0
// name the transports. Where the user has set NCCL_DEBUG or NCCL_DEBUG_FILE, those are left alone and the
// transport stays unknown.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "lockstep/base/unique_fd.h"

namespace lockstep::comm {

// The transports that the text of a log names: "NET/Socket", "P2P/IPC", "SHM/direct".
std::set<std::string> transports_in(std::string_view log);

class TransportLog {
 public:
  // Before NCCL's first call that logs. Does nothing from the second call on.
  void begin();
  // The transports connected since the last call; after the first, the file has no name any more.
  std::set<std::string> read_new();

 private:
  std::mutex mutex_;
  bool begun_ = false;
  base::UniqueFd file_;  // closed when the log could not be had
  std::string path_;     // empty once the file is unlinked
  std::size_t read_bytes_ = 0;
};

}  // namespace lockstep::comm
