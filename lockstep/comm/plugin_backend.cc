#include "lockstep/comm/plugin_backend.h"

#include <dlfcn.h>

#include "lockstep/base/error.h"

namespace lockstep::comm {
namespace {

// Whether this process has a gloo that is not the library of that name: pip's libtorch contains one, whose
// symbols would win over those that a plugin was built with.
bool has_another_gloo() {
  void* const symbol = ::dlsym(RTLD_DEFAULT, "_ZN4gloo7barrierERNS_14BarrierOptionsE");
  Dl_info info{};
  if (symbol == nullptr || ::dladdr(symbol, &info) == 0) return false;
  return !std::filesystem::path(info.dli_fname).filename().string().starts_with("libgloo");
}

// What a plugin and its libraries call is looked for among themselves first where another would be found.
// Not always: the sanitizers refuse it.
int flags_for(const std::string& backend) {
  const int flags = RTLD_NOW | RTLD_LOCAL;
  return backend == "gloo" && has_another_gloo() ? flags | RTLD_DEEPBIND : flags;
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
  void* library = ::dlopen(file_.c_str(), flags_for(name_));
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
