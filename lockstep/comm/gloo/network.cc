#include "lockstep/comm/gloo/network.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <functional>
#include <memory>
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

using Interfaces = std::unique_ptr<ifaddrs, void (*)(ifaddrs*)>;

Interfaces interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) list = nullptr;
  return {list, ::freeifaddrs};
}

bool is_usable(const ifaddrs& entry) {
  return entry.ifa_addr != nullptr && (entry.ifa_flags & IFF_UP) != 0 &&
         (entry.ifa_addr->sa_family == AF_INET || entry.ifa_addr->sa_family == AF_INET6);
}

std::string address_of(const ifaddrs& entry) {
  sockaddr_storage address{};
  const bool is_ipv4 = entry.ifa_addr->sa_family == AF_INET;
  std::memcpy(&address, entry.ifa_addr, is_ipv4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  return text_of(address);
}

// The first that is wanted: IPv4 before IPv6, whose link-local addresses are known to one link only.
std::string first_address(const std::function<bool(const ifaddrs&)>& wanted) {
  const Interfaces list = interfaces();
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next)
      if (is_usable(*entry) && entry->ifa_addr->sa_family == family && wanted(*entry) &&
          !address_of(*entry).starts_with("fe80"))
        return address_of(*entry);
  return {};
}

std::string choose(const Group& group, const std::string& interface) {
  if (!interface.empty())
    return first_address([&](const ifaddrs& entry) { return interface == entry.ifa_name; });
  if (group.local_world == group.world) return "127.0.0.1";
  if (const auto master = base::environment("MASTER_ADDR")) return own_address_towards(*master);
  return first_address([](const ifaddrs& entry) { return (entry.ifa_flags & IFF_LOOPBACK) == 0; });
}

}  // namespace

std::string own_address(const Group& group, const std::string& interface) {
  const std::string address = choose(group, interface);
  if (!address.empty()) return address;
  throw base::ConfigError(fmt::format("rank {}: gloo cannot use the interface '{}' of this host. There are: {}.",
                                      group.rank, interface.empty() ? "towards the master" : interface,
                                      interface_names()));
}

std::string interface_names() {
  const Interfaces list = interfaces();
  std::set<std::string> names;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next)
    if (is_usable(*entry)) names.insert(entry->ifa_name);
  const std::vector<std::string> sorted(names.begin(), names.end());
  return base::join(sorted, ", ");
}

}  // namespace lockstep::comm
