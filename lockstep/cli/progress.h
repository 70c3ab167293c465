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
  // Any text; a bar is cut to the width of the terminal.
  void show(const std::string& text);
  bool has_bar() const { return bar_; }
  // Whether anything is shown at all.
  bool visible() const { return bar_ || lines_; }
  static constexpr const char* kTakeAway = "\r\033[K";
  // Takes the bar away, so that results begin on a clean line.
  void clear();

 private:
  std::size_t columns() const;
  void write(const std::string& text) const;
  base::UniqueFd terminal_;  // of the launcher; none: standard error
  bool bar_ = false;
  bool lines_;
  bool drawn_ = false;
};

// A rank's standard error is a pipe to its launcher. The launcher hands on the name of its terminal in this
// variable.
inline constexpr const char* kTerminalVariable = "LOCKSTEP_TERMINAL";
// The name of the terminal that standard error is; empty when it is none.
std::string terminal_name();

}  // namespace lockstep::cli
