#include "lockstep/comm/gloo/network.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gloo/transport/tcp/device.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <set>
#include <vector>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::comm {
namespace {

std::string text_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* bytes = address.ss_family == AF_INET
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
                          : &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  ::inet_ntop(address.ss_family, bytes, text, sizeof(text));
  return text;
}

// This host's address on the way to `host`: what the kernel would send from. Nothing is sent to find out.
std::string own_address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  const base::UniqueFd probe(::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  if (::connect(probe.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    return {};
  return text_of(own);
}

gloo::transport::tcp::attr choose(const Group& group, const std::string& interface) {
  gloo::transport::tcp::attr attributes;
  if (!interface.empty())
    attributes.iface = interface;
  else if (group.local_world == group.world)
    attributes.hostname = "127.0.0.1";
  else if (const auto master = base::environment("MASTER_ADDR"))
    attributes.hostname = own_address_towards(*master);
  return attributes;
}

// gloo's messages begin with the place in its source that they come from.
std::string without_place(const std::string& message) {
  const std::size_t end = message.find("] ");
  if (!message.starts_with('[') || end == std::string::npos) return message;
  const std::size_t words = message.find(". ", end);  // after the condition that did not hold
  return message.substr(words == std::string::npos ? end + 2 : words + 2);
}

}  // namespace

std::shared_ptr<gloo::transport::Device> make_device(const Group& group, const std::string& interface) {
  try {
    return gloo::transport::tcp::CreateDevice(choose(group, interface));
  } catch (const std::exception& error) {
    throw base::ConfigError(
        fmt::format("rank {}: gloo cannot use the interface '{}' of this host ({}). There are: {}.",
                    group.rank, interface.empty() ? "towards the master" : interface,
                    without_place(error.what()), interface_names()));
  }
}

std::string interface_names() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::set<std::string> names;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    if (entry->ifa_addr != nullptr && (entry->ifa_flags & IFF_UP) != 0 &&
        (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6))
      names.insert(entry->ifa_name);
  const std::vector<std::string> sorted(names.begin(), names.end());
  return base::join(sorted, ", ");
}

}  // namespace lockstep::comm
