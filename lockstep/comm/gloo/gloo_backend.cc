// The backend gloo: libgloo over TCP, as a plugin.
#include <fmt/format.h>
#include <gloo/config.h>
#include <signal.h>

#include <algorithm>
#include <mutex>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/comm/backend.h"
#include "lockstep/comm/gloo/gloo_channel.h"
#include "lockstep/comm/gloo/gloo_context.h"
#include "lockstep/comm/host_communicator.h"
#include "lockstep/comm/rendezvous/own_host.h"

namespace lockstep::comm {
namespace {

std::vector<std::string> algorithms() {
  std::vector<std::string> names = {"auto", "ring"};
  for (const std::string_view native : native_algorithms()) names.emplace_back(native);
  return names;
}

void validate(const OpenOptions& options) {
  const std::vector<std::string> known = algorithms();
  if (std::find(known.begin(), known.end(), options.algorithm) != known.end()) return;
  throw base::UsageError(fmt::format("gloo has no algorithm '{}'.{} There are: {}.", options.algorithm,
                                     base::suggestion(options.algorithm, known), base::join(known, ", ")));
}

// gloo writes to its sockets without asking for EPIPE: a peer's death would end this process by a signal
// before it could say anything. A handler the program has set is left alone.
void ignore_broken_pipes() {
  struct sigaction action {};
  if (::sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

// Where this rank's connections come from: loopback when all ranks are on this host, else the address of the
// interface that is named, or that leads to where the run met.
std::string own_address(const Group& group, const OpenOptions& options) {
  if (!options.interface.empty()) return routable_address(options.interface);
  if (group.local_world == group.world) return "127.0.0.1";
  std::string address = options.towards.empty() ? "" : own_address_towards(options.towards);
  if (address.empty()) address = routable_address("");
  if (!address.empty()) return address;
  throw base::ConfigError(fmt::format(
      "rank {}: gloo finds no interface that leads to other hosts. There are: {}. Next step: name "
      "one with --interface.",
      group.rank, interface_names()));
}

class GlooBackend : public Backend {
 public:
  std::string_view name() const override { return "gloo"; }

  Availability availability() const override {
    return {true,
            fmt::format("gloo {}.{}.{} over tcp; interfaces: {}; algorithms: {}", GLOO_VERSION_MAJOR,
                        GLOO_VERSION_MINOR, GLOO_VERSION_PATCH, interface_names(),
                        base::join(algorithms(), ", ")),
            {}};
  }

  std::unique_ptr<Communicator> open(const Group& group, Store& store,
                                     const OpenOptions& options) const override {
    validate(options);
    ignore_broken_pipes();
    const std::string address = own_address(group, options);
    GlooSetup setup{store, make_device(address), address, options.key, options.algorithm};
    auto channel = std::make_unique<GlooChannel>(std::move(setup), group, "gloo/" + options.channel,
                                                 base::Deadline(options.timeout));
    return std::make_unique<HostCommunicator>(std::move(channel), options.timeout, options.boards);
  }
};

}  // namespace
}  // namespace lockstep::comm

extern "C" __attribute__((visibility("default"))) const lockstep::comm::Backend* lockstep_backend_v1() {
  static const lockstep::comm::GlooBackend backend;
  return &backend;
}
