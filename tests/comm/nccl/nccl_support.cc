#include "tests/comm/nccl/nccl_support.h"

#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/registry.h"

namespace lockstep::testing {
namespace {

const comm::PluginBackend& nccl_backend() {
  static const comm::PluginBackend backend("nccl", comm::default_plugin_directory() / "backend_nccl.so");
  return backend;
}

std::string ask_why_not() {
  const std::vector<RankResult> results = run_ranks(1, [](Rank&) {
    const comm::Availability found = nccl_backend().availability();
    check(found.available, found.detail);
  });
  const RankResult& result = results.front();
  if (result.exit_code == 0 && result.signal == 0) return "";
  return result.message.empty() ? "asking for it ended the process" : result.message;
}

}  // namespace

std::string why_no_nccl() {
  static const std::string why_not = ask_why_not();
  return why_not;
}

std::unique_ptr<comm::Communicator> open_nccl(Rank& self, base::Nanoseconds timeout) {
  comm::OpenOptions options;
  options.timeout = timeout;
  return nccl_backend().open(self.group, self.store, options);
}

}  // namespace lockstep::testing
