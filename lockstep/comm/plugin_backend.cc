#include "lockstep/comm/plugin_backend.h"

#include <dlfcn.h>

#include "lockstep/base/error.h"

namespace lockstep::comm {

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
