#include "lockstep/comm/nccl/nccl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "lockstep/base/environment.h"

namespace lockstep::comm {
namespace {

constexpr const char* kFile = "libnccl.so.2";
constexpr const char* kVariable = "LOCKSTEP_NCCL";
constexpr int kOldest = 21400;  // 2.14 brought communicators that do not block

struct Opened {
  void* handle = nullptr;
  std::string complaint;
};

Opened open_named_file(const std::string& loader_complaint) {
  const auto file = base::environment(kVariable);
  if (!file) return {nullptr, loader_complaint};
  if (void* named = ::dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL)) return {named, ""};
  return {nullptr, fmt::format("{} = {}: {}", kVariable, *file, ::dlerror())};
}

Opened open_library() {
  if (void* loaded = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return {loaded, ""};
  if (void* found = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL)) return {found, ""};
  return open_named_file(::dlerror());
}

// Looks a function up; remembers the first one that is missing.
template <typename Function>
void resolve(void* handle, const char* symbol, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(handle, symbol));
  if (function == nullptr && missing.empty()) missing = symbol;
}

// Returns the name of a function that is missing, or nothing.
std::string fill(NcclLibrary& library, void* handle) {
  std::string missing;
  resolve(handle, "ncclGetVersion", library.get_version, missing);
  resolve(handle, "ncclGetUniqueId", library.get_unique_id, missing);
  resolve(handle, "ncclCommInitRankConfig", library.comm_init_rank_config, missing);
  resolve(handle, "ncclCommFinalize", library.comm_finalize, missing);
  resolve(handle, "ncclCommDestroy", library.comm_destroy, missing);
  resolve(handle, "ncclCommAbort", library.comm_abort, missing);
  resolve(handle, "ncclCommGetAsyncError", library.comm_get_async_error, missing);
  resolve(handle, "ncclGetErrorString", library.get_error_string, missing);
  resolve(handle, "ncclGetLastError", library.get_last_error, missing);
  resolve(handle, "ncclGroupStart", library.group_start, missing);
  resolve(handle, "ncclGroupEnd", library.group_end, missing);
  resolve(handle, "ncclAllReduce", library.all_reduce, missing);
  resolve(handle, "ncclReduce", library.reduce, missing);
  resolve(handle, "ncclReduceScatter", library.reduce_scatter, missing);
  resolve(handle, "ncclAllGather", library.all_gather, missing);
  resolve(handle, "ncclBroadcast", library.broadcast, missing);
  resolve(handle, "ncclSend", library.send, missing);
  resolve(handle, "ncclRecv", library.receive, missing);
  return missing;
}

std::string file_of(const void* function) {
  Dl_info info{};
  return ::dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : kFile;
}

NcclLookup too_old(const NcclLibrary& library, const std::string& missing) {
  const std::string version = library.version == 0 ? "of an unknown version" : library.version_text();
  const std::string reason = missing.empty() ? "" : fmt::format(" and lacks {}", missing);
  return {nullptr, fmt::format("NCCL {} is too old{}", version, reason), "Install NCCL 2.14 or newer."};
}

}  // namespace

std::string NcclLibrary::version_text() const {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

NcclLookup find_nccl() {
  const Opened opened = open_library();
  if (opened.handle == nullptr)
    return {nullptr, "the NCCL library cannot be loaded: " + opened.complaint,
            fmt::format("Install NCCL, or name its file in {}.", kVariable)};
  auto library = std::make_shared<NcclLibrary>();
  const std::string missing = fill(*library, opened.handle);
  if (library->get_version != nullptr) static_cast<void>(library->get_version(&library->version));
  if (!missing.empty() || library->version < kOldest) return too_old(*library, missing);
  library->file = file_of(reinterpret_cast<const void*>(library->get_version));
  return {std::move(library), "", ""};
}

}  // namespace lockstep::comm
