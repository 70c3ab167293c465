// Flags: the one table that parsing, help and completion are made from. A flag says how its text becomes a
// value.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lockstep::cli {

// Stores what was typed. Throws UsageError that says what is wrong with the text; the parser adds the flag's
// name.
using Setter = std::function<void(const std::string& text)>;

struct Flag {
  std::string names = {};                      // "-b,--min-bytes"; a positional argument has a bare name
  std::string value = {};                      // what stands for the value in the help; empty: a switch
  std::string help = {};                       // one line
  std::vector<std::string> known_values = {};  // what completion offers
  bool list = false;                           // several values with commas between them
  bool truth = false;                          // true or false; --NAME alone is true, --no-NAME false
  std::string group = {};                      // the heading under which the help shows it; empty: Flags
  Setter set = {};                             // for a switch: called with an empty text

  bool is_switch() const { return value.empty(); }
  bool is_positional() const { return !names.starts_with('-'); }
};

// "-b", "--min-bytes"; the one to speak of comes last.
std::vector<std::string> spellings(const Flag& flag);

}  // namespace lockstep::cli
