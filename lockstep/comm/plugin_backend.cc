#include "lockstep/comm/plugin_backend.h"

#include <dlfcn.h>

#include "lockstep/base/error.h"

namespace lockstep::comm {
namespace {

// Which file of this process has a gloo that is not the library of that name: its symbols win over those that
// a plugin was built with. Empty: none.
std::string file_with_another_gloo() {
  void* const symbol = ::dlsym(RTLD_DEFAULT, "_ZN4gloo7barrierERNS_14BarrierOptionsE");
  Dl_info info{};
  if (symbol == nullptr || ::dladdr(symbol, &info) == 0) return {};
  const std::string file = std::filesystem::path(info.dli_fname).filename().string();
  return file.starts_with("libgloo") ? std::string() : file;
}

}  // namespace

Availability PluginBackend::availability() const {
  std::call_once(loaded_, [this] { load(); });
  if (backend_ != nullptr) return backend_->availability();
  return {false, why_not_, "Install what the loader names, or build Lockstep again on this machine."};
}

std::unique_ptr<Communicator> PluginBackend::open(const Group& group, Store& store,
                                                  const OpenOptions& options) const {
  std::call_once(loaded_, [this] { load(); });
  if (backend_ == nullptr) throw base::DeviceError("backend " + name_ + " cannot be used here: " + why_not_);
  return backend_->open(group, store, options);
}

void PluginBackend::load() const {
  if (!std::filesystem::exists(file_)) {
    why_not_ = "its plugin " + file_.string() + " does not exist";
    return;
  }
  if (const std::string other = file_with_another_gloo(); name_ == "gloo" && !other.empty()) {
    why_not_ = other +
               " of this process contains a gloo of its own, and two corrupt each other; take another "
               "backend (shm, mpi), or build with a libtorch that uses the system's gloo";
    return;
  }
  void* library = ::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why_not_ = std::string("its plugin cannot be loaded: ") + ::dlerror();
    return;
  }
  const auto entry = reinterpret_cast<BackendEntryPoint>(::dlsym(library, kBackendEntryPoint));
  if (entry == nullptr) {
    why_not_ = "its plugin " + file_.string() + " is of another version of Lockstep";
    return;
  }
  backend_ = entry();
}

}  // namespace lockstep::comm
