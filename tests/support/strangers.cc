#include "tests/support/strangers.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#include "lockstep/base/clock.h"

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kMostConnections = 5000;
constexpr base::Nanoseconds kLongestScan = std::chrono::seconds(60);

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(parent) + "/task", ignored)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

// Which process has which socket, by the socket's inode.
std::map<std::string, pid_t> sockets_of(const std::vector<pid_t>& processes) {
  std::map<std::string, pid_t> sockets;
  std::error_code ignored;
  for (const pid_t pid : processes)
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", ignored)) {
      const std::string target = fs::read_symlink(entry.path(), ignored).string();
      if (target.starts_with("socket:[")) sockets[target.substr(8, target.size() - 9)] = pid;
    }
  return sockets;
}

bool is_loopback(const std::string& address) {
  constexpr std::string_view kMapped = "0000000000000000FFFF0000";
  if (address.size() == 8) return address.ends_with("7F");  // 127.x.y.z, back to front
  return address == "00000000000000000000000001000000" ||
         (address.starts_with(kMapped) && address.ends_with("7F"));
}

void read_listeners(const char* table, const std::map<std::string, pid_t>& sockets,
                    std::vector<Listener>& found) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // the names of the columns
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, skipped, inode;
    words >> number >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) words >> skipped;
    words >> inode;
    const auto owner = sockets.find(inode);
    if (state != "0A" || owner == sockets.end()) continue;
    const std::size_t colon = local.find(':');
    found.push_back({owner->second, is_loopback(local.substr(0, colon)), local,
                     std::stoi(local.substr(colon + 1), nullptr, 16)});
  }
}

int connect_to_loopback(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return fd;
}

// Nothing, words, and a head of six numbers with a long body, as gloo's messages have.
std::string words_for(int connection) {
  if (connection % 3 == 0) return {};
  if (connection % 3 == 1) return "GET / HTTP/1.0\r\n\r\n" + std::string(100, 'A');
  std::string head(48, '\0');
  head[0] = 64;                                     // its bytes
  head[8] = static_cast<char>(connection / 3 % 4);  // what it is
  return head + std::string(200, '\x01');
}

[[noreturn]] void scan(pid_t ancestor, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  const base::Deadline deadline(kLongestScan);
  std::set<std::pair<pid_t, int>> seen;
  while (!deadline.passed() && static_cast<int>(seen.size()) < kMostConnections) {
    std::vector<pid_t> processes = descendants_of(ancestor);
    processes.push_back(ancestor);
    std::erase(processes, ::getpid());
    for (const Listener& listener : listeners_of(processes)) {
      if (!seen.insert({listener.pid, listener.port}).second) continue;
      const int fd = connect_to_loopback(listener.port);
      const std::string words = words_for(static_cast<int>(seen.size()));
      [[maybe_unused]] const ssize_t sent = ::send(fd, words.data(), words.size(), MSG_NOSIGNAL);
      [[maybe_unused]] const ssize_t told = ::write(report, "", 1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  ::_exit(0);
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t ancestor) {
  std::vector<pid_t> all = children_of(ancestor);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const pid_t child : children_of(all[i])) all.push_back(child);
  return all;
}

std::vector<Listener> listeners_of(const std::vector<pid_t>& processes) {
  const std::map<std::string, pid_t> sockets = sockets_of(processes);
  std::vector<Listener> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) read_listeners(table, sockets, found);
  return found;
}

Scanner::Scanner(pid_t ancestor) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  report_ = ends[0];
  pid_ = ::fork();
  if (pid_ == 0) scan(ancestor, ends[1]);
  ::close(ends[1]);
}

Scanner::~Scanner() {
  stop();
  ::close(report_);
}

int Scanner::stop() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  std::array<char, kMostConnections> bytes;
  return static_cast<int>(std::max<ssize_t>(0, ::read(report_, bytes.data(), bytes.size())));
}

}  // namespace lockstep::testing
