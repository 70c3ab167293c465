// Opens a gloo communicator in a rank of a test.
#pragma once

#include <memory>
#include <string>

#include "lockstep/base/environment.h"
#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/registry.h"
#include "tests/support/ranks.h"

namespace lockstep::testing {

struct GlooRank {
  explicit GlooRank(Rank& rank, comm::OpenOptions options = {})
      : backend("gloo", base::plugin_directory() / "backend_gloo.so"),
        communicator(backend.open(rank.group, rank.store, options)) {}

  comm::PluginBackend backend;
  std::unique_ptr<comm::Communicator> communicator;
};

}  // namespace lockstep::testing
