// How far a long command is: a line that rewrites itself on a terminal, plain lines elsewhere when asked for.
#pragma once

#include <cstddef>
#include <string>

namespace lockstep::cli {

class Progress {
 public:
  // `how` is auto, bar, lines or none. `fd` is where a bar goes; auto shows one only if that is a terminal.
  Progress(const std::string& how, int fd);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done, std::size_t total, const std::string& what);
  // Takes the bar away, so that results begin on a clean line.
  void clear();

 private:
  void write(const std::string& text) const;
  int fd_;
  bool bar_;
  bool lines_;
  bool visible_ = false;
};

// A rank's standard error is a pipe to its launcher. The launcher hands its terminal on under this name: the
// number of a file descriptor that the ranks inherit.
inline constexpr const char* kProgressFdVariable = "LOCKSTEP_PROGRESS_FD";
// The file descriptor of that variable, else standard error.
int progress_fd();

}  // namespace lockstep::cli
