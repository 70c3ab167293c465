// How far a long command is: a line that rewrites itself on a terminal, plain lines elsewhere when asked for.
#pragma once

#include <cstddef>
#include <string>

#include "lockstep/base/unique_fd.h"

namespace lockstep::cli {

class Progress {
 public:
  // `how` is auto, bar, lines or none; auto shows a bar if there is a terminal to show it on.
  explicit Progress(const std::string& how);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done, std::size_t total, const std::string& what);
  // Takes the bar away, so that results begin on a clean line.
  void clear();

 private:
  void write(const std::string& text) const;
  base::UniqueFd terminal_;  // of the launcher; none: standard error
  bool bar_ = false;
  bool lines_;
  bool visible_ = false;
};

// A rank's standard error is a pipe to its launcher. The launcher hands on the name of its terminal in this
// variable.
inline constexpr const char* kTerminalVariable = "LOCKSTEP_TERMINAL";
// The name of the terminal that standard error is; empty when it is none.
std::string terminal_name();

}  // namespace lockstep::cli
