// What goes to our own standard output or error. A reader that does not read must not stop us from watching
// the ranks, so bytes wait here and are written only when the descriptor takes them.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/launch/poll_set.h"

namespace lockstep::launch {

class Sink {
 public:
  explicit Sink(int fd) : fd_(fd) {}

  void add(std::string_view bytes);
  bool empty() const { return written_ == pending_.size(); }
  // Whoever fills this sink should stop until some of it is written.
  bool full() const { return pending_.size() - written_ >= kMostPending; }
  // Why nothing more can be written; 0 while all is well. What comes after that is dropped.
  int error_number() const { return error_number_; }
  void watch(PollSet& polls);

 private:
  static constexpr std::size_t kMostPending = 256 * 1024;

  void write_some();
  std::size_t next_bytes() const;

  int fd_;
  std::string pending_;
  std::size_t written_ = 0;
  int error_number_ = 0;
};

}  // namespace lockstep::launch
