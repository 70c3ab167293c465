#include "lockstep/comm/registry.h"

#include <fmt/format.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/comm/local/local_backend.h"
#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/shm/shm_backend.h"
#include "lockstep/comm/wrappers/recording.h"

namespace lockstep::comm {

Registry::Registry(const std::filesystem::path& plugin_directory) {
  backends_.push_back(std::make_unique<LocalBackend>());
  backends_.push_back(std::make_unique<ShmBackend>());
  for (const char* name : {"gloo", "mpi", "nccl", "p2p"})
    backends_.push_back(
        std::make_unique<PluginBackend>(name, plugin_directory / fmt::format("backend_{}.so", name)));
}

Registry::~Registry() = default;

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  for (const auto& backend : backends_) names.emplace_back(backend->name());
  return names;
}

const Backend& Registry::find(std::string_view name) const {
  for (const auto& backend : backends_)
    if (backend->name() == name) return *backend;
  const std::vector<std::string> known = names();
  throw base::UsageError(fmt::format("there is no backend '{}'.{} There are: {}.", name,
                                     base::suggestion(name, known), base::join(known, ", ")));
}

std::unique_ptr<Communicator> Registry::open(std::string_view name, const Group& group, Store& store,
                                             const OpenOptions& options, measure::Ledger& ledger) const {
  const Backend& backend = find(name);
  const Availability availability = backend.availability();
  if (!availability.available)
    throw base::DeviceError(fmt::format("backend {} cannot be used here: {}. {}", name, availability.detail,
                                        availability.next_step));
  std::unique_ptr<Communicator> opened = backend.open(group, store, options);
  if (options.wrap) opened = options.wrap(std::move(opened));
  return std::make_unique<RecordingCommunicator>(std::move(opened), ledger);
}

}  // namespace lockstep::comm
