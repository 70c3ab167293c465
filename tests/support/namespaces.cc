// Makes, enters and removes the namespaces with iproute2.
#include "tests/support/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "lockstep/base/error.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::testing {
namespace {

constexpr const char* kDirectory = "/run/netns";
constexpr const char* kPrefix = "lockstep-test-";

bool succeeds(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

// Names are lockstep-test-PID-SIDE.
void remove_leftovers() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kDirectory, error)) {
    const std::string file = entry.path().filename();
    if (file.rfind(kPrefix, 0) != 0) continue;
    const int pid = std::atoi(file.c_str() + std::string(kPrefix).size());
    if (pid > 0 && ::kill(pid, 0) != 0) succeeds("ip netns del " + file);
  }
}

}  // namespace

NamespacePair::NamespacePair() {
  if (::geteuid() != 0) {
    why_not_ = "network namespaces need root";
    return;
  }
  remove_leftovers();
  make();
}

NamespacePair::~NamespacePair() {
  // The cable goes with the namespaces.
  for (const int side : {0, 1}) succeeds("ip netns del " + name(side));
}

std::string NamespacePair::name(int side) const {
  return fmt::format("{}{}-{}", kPrefix, ::getpid(), side);
}

void NamespacePair::make() {
  const std::string one = name(0), other = name(1), cable = interface();
  const std::string commands[] = {
      "ip netns add " + one,
      "ip netns add " + other,
      // Nothing but our own traffic may cross: no IPv6 discovery.
      "ip netns exec " + one + " sysctl -qw net.ipv6.conf.default.disable_ipv6=1",
      "ip netns exec " + other + " sysctl -qw net.ipv6.conf.default.disable_ipv6=1",
      fmt::format("ip link add {0} netns {1} type veth peer name {0} netns {2}", cable, one, other),
      fmt::format("ip -n {} address add {}/24 dev {}", one, address(0), cable),
      fmt::format("ip -n {} address add {}/24 dev {}", other, address(1), cable),
      fmt::format("ip -n {} link set lo up", one),
      fmt::format("ip -n {} link set lo up", other),
      fmt::format("ip -n {} link set {} up", one, cable),
      fmt::format("ip -n {} link set {} up", other, cable),
  };
  for (const std::string& command : commands)
    if (!succeeds(command)) {
      why_not_ = "this failed: " + command;
      return;
    }
}

void NamespacePair::enter(int side) const {
  // The name carries the parent's number: ranks are its children.
  const std::string path = fmt::format("{}/{}{}-{}", kDirectory, kPrefix, ::getppid(), side);
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::setns(fd.get(), CLONE_NEWNET) != 0)
    throw std::runtime_error("cannot enter " + path + ": " + base::errno_text());
}

InterfaceBytes interface_bytes(const std::string& interface) {
  std::ifstream file("/proc/thread-self/net/dev");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, colon).find(interface) == std::string::npos) continue;
    // received: bytes packets errs drop fifo frame compressed multicast; sent: bytes ...
    std::istringstream fields(line.substr(colon + 1));
    InterfaceBytes bytes;
    std::uint64_t skipped = 0;
    fields >> bytes.received;
    for (int i = 0; i < 7; ++i) fields >> skipped;
    fields >> bytes.sent;
    return bytes;
  }
  throw std::runtime_error("there is no interface " + interface);
}

}  // namespace lockstep::testing
