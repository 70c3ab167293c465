#include "tests/comm/cuda/device_support.h"

#include "lockstep/base/environment.h"
#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/registry.h"

namespace lockstep::testing {
namespace {

const comm::PluginBackend& tested_backend() {
  static const comm::PluginBackend backend(
      kTestedBackend, base::plugin_directory() / ("backend_" + std::string(kTestedBackend) + ".so"));
  return backend;
}

std::string ask_why_not() {
  const std::vector<RankResult> results = run_ranks(1, [](Rank&) {
    const comm::Availability found = tested_backend().availability();
    check(found.available, found.detail);
  });
  const RankResult& result = results.front();
  if (result.exit_code == 0 && result.signal == 0) return "";
  return result.message.empty() ? "asking for it ended the process" : result.message;
}

}  // namespace

std::string why_not_usable() {
  static const std::string why_not = ask_why_not();
  return why_not;
}

std::unique_ptr<comm::Communicator> open_device(Rank& self, base::Nanoseconds timeout) {
  comm::OpenOptions options;
  options.timeout = timeout;
  return tested_backend().open(self.group, self.store, options);
}

}  // namespace lockstep::testing
