#include "lockstep/comm/rendezvous/own_host.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/base/text.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::comm {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string network_namespace() {
  struct stat facts {};
  if (::stat("/proc/self/ns/net", &facts) != 0) return {};
  return fmt::format("{}:{}", facts.st_dev, facts.st_ino);
}

std::string numeric(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* bytes = address.sa_family == AF_INET
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
                          : &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  ::inet_ntop(address.sa_family, bytes, text, sizeof text);
  return text;
}

struct OwnAddress {
  std::string interface;
  std::string address;
  bool loopback;
};

// Of the interfaces that are up; IPv4 first. Addresses that are good on one link alone need its name too, and
// are left out.
std::vector<OwnAddress> own_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<OwnAddress> found;
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family) continue;
      const std::string address = numeric(*entry->ifa_addr);
      if ((entry->ifa_flags & IFF_UP) == 0 || address.starts_with("fe80:")) continue;
      found.push_back({entry->ifa_name, address, (entry->ifa_flags & IFF_LOOPBACK) != 0});
    }
  return found;
}

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// Null when the name is not known.
Addresses addresses_of(const std::string& name, int kind, const char* port) {
  addrinfo hints{};
  hints.ai_socktype = kind;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), port, &hints, &found) != 0) found = nullptr;
  return {found, ::freeaddrinfo};
}

// TEST-NET-1: no route but the default one leads there.
constexpr const char* kFarAway = "192.0.2.1";

bool is_number(const std::string& address) {
  std::array<char, sizeof(in6_addr)> ignored;
  return ::inet_pton(AF_INET, address.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), ignored.data()) == 1;
}

bool stands_for_loopback_alone(const std::string& name) {
  const Addresses found = addresses_of(name, SOCK_STREAM, nullptr);
  for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next)
    if (!is_loopback(numeric(*at->ai_addr))) return false;
  return found != nullptr;
}

}  // namespace

std::string this_host() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const std::string node = base::environment("SLURMD_NODENAME").value_or("");
  const std::string facts = fmt::format("{} {} {}", boot, network_namespace(), node);
  return fmt::format("{}/{}", host_name(), base::sha256_hex(facts).substr(0, 12));
}

std::string host_name_of(const std::string& host) {
  return host.substr(0, host.rfind('/'));
}

bool is_loopback(const std::string& address) {
  in_addr number{};
  if (::inet_pton(AF_INET, address.c_str(), &number) == 1) return address.starts_with("127.");
  return address == "::1" || address == "localhost";
}

std::string routable_address(const std::string& interface) {
  const std::vector<OwnAddress> all = own_addresses();
  if (!interface.empty()) {
    for (const OwnAddress& own : all)
      if (own.interface == interface) return own.address;
    throw base::ConfigError(
        fmt::format("this host has no interface '{}' that is up and has an address. There are: {}", interface,
                    interface_names()));
  }
  const std::string preferred = own_address_towards(kFarAway);
  std::string first;
  for (const OwnAddress& own : all) {
    if (own.loopback) continue;
    if (own.address == preferred) return own.address;
    if (first.empty()) first = own.address;
  }
  return first;
}

std::string own_address_towards(const std::string& host) {
  const Addresses found = addresses_of(host, SOCK_DGRAM, "9");
  if (found == nullptr) return {};
  const base::UniqueFd probe(::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (::connect(probe.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    return {};
  return numeric(reinterpret_cast<const sockaddr&>(own));
}

std::string interface_names() {
  std::set<std::string> names;
  for (const OwnAddress& own : own_addresses()) names.insert(own.interface);
  const std::vector<std::string> sorted(names.begin(), names.end());
  return base::join(sorted, ", ");
}

std::string reachable_address(const std::string& name, const std::string& interface) {
  if (is_number(name) || is_loopback(name) || !stands_for_loopback_alone(name)) return name;
  const std::string address = routable_address(interface);
  return address.empty() ? name : address;
}

}  // namespace lockstep::comm
