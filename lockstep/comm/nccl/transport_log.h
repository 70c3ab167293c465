// Finds out what NCCL moves bytes over: NCCL says it nowhere but in its log. So, before NCCL first speaks in
// this process, its log is turned on and sent to a file in memory, which nobody else sees; lines such as
//   host:12:34 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/Socket/0
// name the transports. Where the user has set NCCL_DEBUG or its like, those are left alone and the
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
  // The transports connected since the last call. After the first, NCCL knows its file, and the environment
  // is put back, so that it is not handed on to programs started from here.
  std::set<std::string> read_new();

 private:
  void put_environment_back();

  std::mutex mutex_;
  bool begun_ = false;
  base::UniqueFd file_;  // closed when the log could not be had
  bool environment_set_ = false;
  std::size_t read_bytes_ = 0;
};

}  // namespace lockstep::comm
