// NCCL's functions, found at run time. The copy that the process has already loaded is used (torch brings its
// own; two NCCLs in one process must not be), else the loader's libnccl.so.2, else the file that
// LOCKSTEP_NCCL names.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>

namespace lockstep::comm {

struct NcclLibrary {
  std::string file;  // where it was loaded from
  int version = 0;   // 22809 is 2.28.9

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommFinalize) comm_finalize = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;

  std::string version_text() const;  // "2.28.9"
};

// The library, or why there is none. It stays loaded until the program ends.
struct NcclLookup {
  std::shared_ptr<const NcclLibrary> library;  // null when absent
  std::string why_absent;
  std::string next_step;
};
NcclLookup find_nccl();

}  // namespace lockstep::comm
