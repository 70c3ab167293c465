// Loaded into mpirun (LD_PRELOAD) when all ranks are on this host. mpirun listens at all of the host's
// addresses for helpers on other hosts, whatever it is told (Open MPI 4.1), and whoever connects to it can
// hold up the run. What it would bind to every address is bound to loopback.
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <initializer_list>

namespace {

// What mpirun starts is not to have this. A script that stands in its place hands it on.
__attribute__((constructor)) void leave_the_environment() {
  for (const char* name : {"mpirun", "mpiexec", "orterun", "prterun"}) {
    if (::strncmp(program_invocation_short_name, name, ::strlen(name)) != 0) continue;
    const char* others = ::getenv("LD_PRELOAD");
    others = others == nullptr ? nullptr : ::strchr(others, ':');
    if (others == nullptr)
      ::unsetenv("LD_PRELOAD");
    else
      ::setenv("LD_PRELOAD", others + 1, 1);
    return;
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int bind(int fd, const sockaddr* address,
                                                           socklen_t length) noexcept {
  sockaddr_storage chosen{};
  ::memcpy(&chosen, address, length < sizeof chosen ? length : sizeof chosen);
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(chosen);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(chosen);
  if (chosen.ss_family == AF_INET && ipv4.sin_addr.s_addr == htonl(INADDR_ANY))
    ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  else if (chosen.ss_family == AF_INET6 && ::memcmp(&ipv6.sin6_addr, &in6addr_any, sizeof in6addr_any) == 0)
    ipv6.sin6_addr = in6addr_loopback;
  return static_cast<int>(::syscall(SYS_bind, fd, &chosen, length));
}
