#include "lockstep/comm/gloo/connections.h"

#include <fcntl.h>
#include <gloo/transport/tcp/address.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <string>

namespace lockstep::comm {
namespace {

bool same_address(const sockaddr_storage& one, const sockaddr_storage& other) {
  if (one.ss_family != other.ss_family) return false;
  if (one.ss_family == AF_INET) {
    const auto& a = reinterpret_cast<const sockaddr_in&>(one);
    const auto& b = reinterpret_cast<const sockaddr_in&>(other);
    return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
  }
  const auto& a = reinterpret_cast<const sockaddr_in6&>(one);
  const auto& b = reinterpret_cast<const sockaddr_in6&>(other);
  return a.sin6_port == b.sin6_port && std::memcmp(&a.sin6_addr, &b.sin6_addr, sizeof(a.sin6_addr)) == 0;
}

bool is_connected(int fd) {
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  return ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0;
}

// A connection's own end.
struct OpenSocket {
  int fd;
  sockaddr_storage address;
};

std::vector<OpenSocket> connected_sockets() {
  std::vector<OpenSocket> sockets;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    sockaddr_storage address{};
    socklen_t length = sizeof(address);
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0 && is_connected(fd))
      sockets.push_back({fd, address});
  }
  return sockets;
}

base::UniqueFd duplicate_of(const std::vector<OpenSocket>& sockets, const sockaddr_storage& address) {
  for (const OpenSocket& socket : sockets)
    if (same_address(socket.address, address)) return base::UniqueFd(::fcntl(socket.fd, F_DUPFD_CLOEXEC, 0));
  return {};
}

}  // namespace

std::vector<base::UniqueFd> find_connections(gloo::Context& context) {
  const std::vector<OpenSocket> sockets = connected_sockets();
  std::vector<base::UniqueFd> connections(static_cast<std::size_t>(context.size));
  for (int peer = 0; peer < context.size; ++peer) {
    if (peer == context.rank) continue;
    const auto* own_end =
        dynamic_cast<const gloo::transport::tcp::Address*>(&context.getPair(peer)->address());
    if (own_end != nullptr)
      connections[static_cast<std::size_t>(peer)] = duplicate_of(sockets, own_end->getSockaddr());
  }
  return connections;
}

std::size_t unread_bytes(int socket) {
  int bytes = 0;
  return ::ioctl(socket, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace lockstep::comm
