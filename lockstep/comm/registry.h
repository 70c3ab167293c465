// All backends of this installation, by name.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/comm/backend.h"
#include "lockstep/measure/ledger.h"

namespace lockstep::comm {

class Registry {
 public:
  // The built-in backends, and those in `backend_*.so` of the plugin directory (opened when first asked for).
  explicit Registry(const std::filesystem::path& plugin_directory);
  ~Registry();

  // Names in the order in which tables show them.
  std::vector<std::string> names() const;
  // Throws UsageError with a suggestion for an unknown name. An absent backend is found, and says why it is
  // absent.
  const Backend& find(std::string_view name) const;
  // Opens a communicator whose every message is recorded in `ledger`, which must outlive it. Throws
  // DeviceError with the reason and the next step when the backend is absent. Collective.
  std::unique_ptr<Communicator> open(std::string_view name, const Group& group, Store& store,
                                     const OpenOptions& options, measure::Ledger& ledger) const;

 private:
  std::vector<std::unique_ptr<const Backend>> backends_;
};

}  // namespace lockstep::comm
