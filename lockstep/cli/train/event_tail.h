// Follows a file of events while a rank still writes it, reading no more of it than is needed to show where
// the run is: of the many step events of a moment only the last.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/base/unique_fd.h"
#include "lockstep/record/event.h"

namespace lockstep::cli {

class EventTail {
 public:
  explicit EventTail(std::filesystem::path file) : file_(std::move(file)) {}

  // What was written since the last call: all events but steps, and the last step. Lines that cannot be read
  // are passed over; the record will say so.
  std::vector<record::Event> read_new();

 private:
  bool append_new_bytes();
  std::vector<std::string> take_lines();

  std::filesystem::path file_;
  base::UniqueFd fd_;
  std::string unread_;  // begins at the start of a line
};

}  // namespace lockstep::cli
