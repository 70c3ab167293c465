// Cuts a stream of bytes into lines. Any bytes are allowed in a line but its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lockstep::launch {

class LineSplitter {
 public:
  using Action = std::function<void(std::string_view line)>;  // without its end

  // A line longer than this comes in pieces of this size, so that a stream without ends cannot fill the
  // memory.
  static constexpr std::size_t kLongestLine = 64 * 1024;

  void feed(std::string_view bytes, const Action& on_line);
  // The stream has ended: a last line without an end is one too.
  void finish(const Action& on_line);

 private:
  void add_part(std::string_view part, const Action& on_line);

  std::string partial_;
};

}  // namespace lockstep::launch
