#include "lockstep/comm/rendezvous/socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "lockstep/base/error.h"

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;
using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

constexpr int kBacklog = 1024;

// Null, with the reason, when the name is not known.
Addresses resolve(const Endpoint& endpoint, bool to_listen, std::string& why) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(endpoint.address.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0)
    why = fmt::format("the address '{}' is not known: {}", endpoint.address, ::gai_strerror(error));
  return {error == 0 ? found : nullptr, &::freeaddrinfo};
}

base::UniqueFd open_socket(const addrinfo& at) {
  return base::UniqueFd(
      ::socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol));
}

void set_option(int fd, int level, int option, int value) {
  // Every option we set only makes things faster or failures earlier; the run works without it.
  (void)::setsockopt(fd, level, option, &value, sizeof value);
}

std::string listen_advice(int error) {
  if (error == EADDRINUSE)
    return "Likely cause: another run, or a program that is still ending, has this port. Next step: choose "
           "another port (MASTER_PORT)";
  if (error == EADDRNOTAVAIL)
    return "Likely cause: the address is not one of this host's. Next step: set MASTER_ADDR to an address of "
           "the host on which rank 0 runs";
  if (error == EACCES) return "Next step: choose a port above 1023";
  return "Next step: choose another address or port";
}

bool finish_connect(int fd, base::Deadline deadline) {
  pollfd wanted{fd, POLLOUT, 0};
  if (::poll(&wanted, 1, deadline.left_milliseconds()) <= 0) {
    errno = ETIMEDOUT;
    return false;
  }
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  return error == 0;
}

}  // namespace

std::string to_text(const Endpoint& endpoint) {
  const bool is_ipv6 = endpoint.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_ipv6 ? "[" : "", endpoint.address, is_ipv6 ? "]" : "", endpoint.port);
}

base::UniqueFd listen_at(const Endpoint& endpoint) {
  std::string why;
  const Addresses addresses = resolve(endpoint, true, why);
  if (addresses == nullptr) throw base::CommError(Kind::failed, "cannot serve the run: " + why);
  int error = 0;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    base::UniqueFd fd = open_socket(*at);
    error = errno;
    if (!fd) continue;
    // A port whose last run has just ended is free for the next one.
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (::bind(fd.get(), at->ai_addr, at->ai_addrlen) == 0 && ::listen(fd.get(), kBacklog) == 0) return fd;
    error = errno;
  }
  throw base::CommError(Kind::failed, fmt::format("cannot serve the run at {}: {}. {}", to_text(endpoint),
                                                  base::errno_text(error), listen_advice(error)));
}

int port_of(int listening_fd) {
  sockaddr_storage at{};
  socklen_t length = sizeof at;
  ::getsockname(listening_fd, reinterpret_cast<sockaddr*>(&at), &length);
  const in_port_t port = at.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(at).sin6_port
                                                  : reinterpret_cast<const sockaddr_in&>(at).sin_port;
  return ntohs(port);
}

std::optional<base::UniqueFd> accept_one(int listening_fd, bool& out_of_files) {
  base::UniqueFd fd(::accept4(listening_fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  out_of_files = !fd && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (!fd) return std::nullopt;
  return fd;
}

std::optional<base::UniqueFd> connect_once(const Endpoint& endpoint, base::Deadline deadline,
                                           std::string& why) {
  const Addresses addresses = resolve(endpoint, false, why);
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    base::UniqueFd fd = open_socket(*at);
    const bool done = fd && ::connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0;
    if (done || (fd && errno == EINPROGRESS && finish_connect(fd.get(), deadline))) return fd;
    why = base::errno_text();
  }
  return std::nullopt;
}

void tune_for_a_run(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

ReadResult read_some(int fd, std::string& into, std::size_t most) {
  std::array<char, 16 * 1024> chunk;
  const ssize_t count = ::recv(fd, chunk.data(), std::min(most, chunk.size()), MSG_DONTWAIT);
  if (count > 0) into.append(chunk.data(), static_cast<std::size_t>(count));
  if (count > 0) return ReadResult::some;
  const bool later = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return later ? ReadResult::nothing_yet : ReadResult::closed;
}

bool write_some(int fd, std::string& bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    bytes.erase(0, static_cast<std::size_t>(count));
  }
  return true;
}

bool write_all(int fd, std::string_view bytes, base::Deadline deadline) {
  std::string left(bytes);
  while (write_some(fd, left)) {
    if (left.empty()) return true;
    pollfd wanted{fd, POLLOUT, 0};
    if (::poll(&wanted, 1, deadline.left_milliseconds()) < 0 && errno != EINTR) return false;
    if (deadline.passed()) return false;
  }
  return false;
}

bool wait_readable(int fd, base::Deadline deadline) {
  pollfd wanted{fd, POLLIN, 0};
  return ::poll(&wanted, 1, deadline.left_milliseconds()) > 0;
}

}  // namespace lockstep::comm
