// Who listens where among a test's own processes, and a stranger who knocks there. Nothing is sent to anybody
// else.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lockstep::testing {

// A TCP socket that a process listens at.
struct Listener {
  pid_t pid = 0;
  bool loopback = false;
  std::string address;  // "0100007F:9C41", as /proc/net/tcp has it: the address back to front, the port
  int port = 0;
};

// Children of a process, theirs, and so on.
std::vector<pid_t> descendants_of(pid_t ancestor);
// Where processes listen, in this process's network namespace.
std::vector<Listener> listeners_of(const std::vector<pid_t>& processes);

// A process of its own that connects once to every port of loopback at which `ancestor` and its descendants
// begin to listen, in turn sends nothing, words, or bytes that look like a binary protocol, and holds on to
// the connection. It ends after 60 s, 5000 connections, or with this object.
class Scanner {
 public:
  explicit Scanner(pid_t ancestor);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Ends it; how many connections it made.
  int stop();

 private:
  pid_t pid_ = -1;
  int report_ = -1;  // a pipe in which it leaves one byte a connection
};

}  // namespace lockstep::testing
