// TCP sockets, wrapped once: non-blocking, closed on exec, IPv4 and IPv6.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lockstep/base/clock.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::comm {

// Where a server listens.
struct Endpoint {
  std::string address;
  int port = 0;
};
std::string to_text(const Endpoint& endpoint);  // "127.0.0.1:29500", "[::1]:29500"

// Throws CommError with the next step when the port is in use or the address is not this host's.
base::UniqueFd listen_at(const Endpoint& endpoint);
int port_of(int listening_fd);

// The next connection that waits; nothing when none does. `out_of_files` is set when the process may not open
// more.
std::optional<base::UniqueFd> accept_one(int listening_fd, bool& out_of_files);

// Tries once. On failure `why` says why.
std::optional<base::UniqueFd> connect_once(const Endpoint& endpoint, base::Deadline deadline,
                                           std::string& why);

// For connections that live as long as the run: small messages at once, and a host that vanished is noticed.
void tune_for_a_run(int fd);

enum class ReadResult { some, nothing_yet, closed };
// Appends what is there, at most `most` bytes, without waiting.
ReadResult read_some(int fd, std::string& into, std::size_t most);

// Sends as much as goes without waiting and removes it from `bytes`; false when the connection is broken.
bool write_some(int fd, std::string& bytes);
// Sends everything; false when the connection is broken or the deadline passed.
bool write_all(int fd, std::string_view bytes, base::Deadline deadline);

// Whether `fd` became readable before the deadline.
bool wait_readable(int fd, base::Deadline deadline);

}  // namespace lockstep::comm
