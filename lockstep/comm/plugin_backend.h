// A backend in a shared object of ours, opened when it is first asked for, with local symbols: the libraries
// it brings are nobody else's business. The other way round that does not hold by itself: pip's libtorch
// contains a gloo of its own, which a plugin must not call.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "lockstep/comm/backend.h"

namespace lockstep::comm {

class PluginBackend : public Backend {
 public:
  PluginBackend(std::string name, std::filesystem::path file)
      : name_(std::move(name)), file_(std::move(file)) {}

  std::string_view name() const override { return name_; }
  Availability availability() const override;
  std::unique_ptr<Communicator> open(const Group& group, Store& store,
                                     const OpenOptions& options) const override;

 private:
  // Opens the shared object once; it stays open until the program ends, since libraries inside may have
  // started threads.
  void load() const;

  std::string name_;
  std::filesystem::path file_;
  mutable std::once_flag loaded_;
  mutable const Backend* backend_ = nullptr;
  mutable std::string why_not_;
};

}  // namespace lockstep::comm
