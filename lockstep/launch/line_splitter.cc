#include "lockstep/launch/line_splitter.h"

#include <algorithm>

namespace lockstep::launch {

// Adds what has no end yet, giving out pieces that are full.
void LineSplitter::add_part(std::string_view part, const Action& on_line) {
  while (!part.empty()) {
    if (partial_.size() == kLongestLine) finish(on_line);
    const std::size_t count = std::min(part.size(), kLongestLine - partial_.size());
    partial_.append(part.substr(0, count));
    part.remove_prefix(count);
  }
}

void LineSplitter::feed(std::string_view bytes, const Action& on_line) {
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    add_part(bytes.substr(0, end), on_line);
    on_line(partial_);
    partial_.clear();
    bytes.remove_prefix(end + 1);
  }
  add_part(bytes, on_line);
}

void LineSplitter::finish(const Action& on_line) {
  if (!partial_.empty()) on_line(partial_);
  partial_.clear();
}

}  // namespace lockstep::launch
