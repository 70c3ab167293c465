#include "lockstep/cli/train/event_tail.h"

#include <fcntl.h>

#include <array>

#include "lockstep/base/error.h"

namespace lockstep::cli {
namespace {

bool is_step(const std::string& line) {
  return record::kind_of_line(line) == record::StepEvent::kName;
}

void parse_into(std::vector<record::Event>& events, const std::string& line) {
  try {
    if (auto event = record::event_from_line(line)) events.push_back(std::move(*event));
  } catch (const base::StoreError&) {
    return;  // damaged, or being written by something that is no engine: not worth stopping a display for
  }
}

}  // namespace

bool EventTail::append_new_bytes() {
  if (!fd_) fd_.reset(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd_) return false;
  std::array<char, 64 * 1024> bytes;
  bool any = false;
  for (ssize_t count; (count = ::read(fd_.get(), bytes.data(), bytes.size())) > 0; any = true)
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
  return any;
}

std::vector<std::string> EventTail::take_lines() {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = unread_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(unread_.substr(begin, end - begin));
  unread_.erase(0, begin);
  return lines;
}

std::vector<record::Event> EventTail::read_new() {
  std::vector<record::Event> events;
  if (!append_new_bytes()) return events;
  std::string last_step;
  for (const std::string& line : take_lines()) {
    if (is_step(line)) {
      last_step = line;
      continue;
    }
    // The order within the file matters: an epoch's end comes after its last step.
    if (!last_step.empty()) parse_into(events, last_step);
    last_step.clear();
    parse_into(events, line);
  }
  if (!last_step.empty()) parse_into(events, last_step);
  return events;
}

}  // namespace lockstep::cli
