// The doctor tries what ranks need between them: shared memory, loopback sockets, and network namespaces for
// tests.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "lockstep/base/error.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/cli/doctor/finding.h"
#include "lockstep/cli/doctor/trial.h"

namespace lockstep::cli {
namespace {

constexpr const char* kArea = "machine";
constexpr base::Nanoseconds kLimit = std::chrono::seconds(5);
constexpr std::size_t kPageBytes = 4096;
constexpr int kMark = 0x5A;

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what + ": " + base::errno_text());
}

volatile unsigned char* map_shared(int fd) {
  void* page = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  require(page != MAP_FAILED, "mmap of a shared page");
  return static_cast<volatile unsigned char*>(page);
}

// A second process maps the memory by its file descriptor and writes; the first must see it.
std::string share_a_page() {
  const base::UniqueFd memory(::memfd_create("lockstep-doctor", MFD_CLOEXEC));
  require(static_cast<bool>(memory), "memfd_create");
  require(::ftruncate(memory.get(), kPageBytes) == 0, "ftruncate of shared memory");
  volatile unsigned char* page = map_shared(memory.get());
  const pid_t writer = ::fork();
  require(writer >= 0, "fork");
  if (writer == 0) {
    map_shared(memory.get())[0] = kMark;
    ::_exit(0);
  }
  int status = 0;
  require(::waitpid(writer, &status, 0) == writer && status == 0, "the second process");
  if (page[0] != kMark) throw std::runtime_error("what one process writes another does not see");
  return "a page written by one process was read by another";
}

base::UniqueFd loopback_socket(sockaddr_in& address) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  require(static_cast<bool>(socket), "socket");
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return socket;
}

std::string talk_over_loopback() {
  sockaddr_in address;
  socklen_t length = sizeof(address);
  const base::UniqueFd listener = loopback_socket(address);
  require(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) == 0, "bind to 127.0.0.1");
  require(::listen(listener.get(), 1) == 0, "listen");
  require(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0, "getsockname");
  sockaddr_in ignored;
  const base::UniqueFd caller = loopback_socket(ignored);
  require(::connect(caller.get(), reinterpret_cast<sockaddr*>(&address), length) == 0,
          "connect to 127.0.0.1");
  const base::UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  require(static_cast<bool>(accepted), "accept");
  char byte = kMark;
  require(::send(caller.get(), &byte, 1, MSG_NOSIGNAL) == 1, "send over loopback");
  byte = 0;
  require(::recv(accepted.get(), &byte, 1, 0) == 1 && byte == kMark, "receive over loopback");
  return "a byte crossed 127.0.0.1 on a free port";
}

std::string enter_namespace() {
  if (::unshare(CLONE_NEWNET) == 0) return "can be made";
  require(::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0, "unshare");
  return "can be made inside a user namespace";
}

Finding tried(const std::string& name, const TrialResult& trial, Finding when_not) {
  if (trial.well()) return {kArea, name, Health::ok, trial.output, "", when_not.essential};
  when_not.area = kArea;
  when_not.name = name;
  when_not.fact = trial.ended && !trial.output.empty() ? trial.output : trial.complaint();
  return when_not;
}

}  // namespace

Findings examine_sharing() {
  Finding no_memory{
      "",  "", Health::broken, "", "Allow memfd_create and shared mmap in the container's seccomp profile.",
      true};
  Finding no_sockets{"", "", Health::broken, "", "Bring the loopback interface up: ip link set lo up.", true};
  Finding no_namespaces{"", "", Health::missing, "",
                        "Only tests over several networks need them: run those as root."};
  return {tried("shared memory", try_in_process(share_a_page, kLimit), no_memory),
          tried("loopback", try_in_process(talk_over_loopback, kLimit), no_sockets),
          tried("network namespaces", try_in_process(enter_namespace, kLimit), no_namespaces)};
}

}  // namespace lockstep::cli
