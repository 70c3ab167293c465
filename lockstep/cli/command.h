// A command of the program: a name, examples, a table of flags and what it does. One file each in commands/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/cli/console.h"
#include "lockstep/cli/flag.h"

namespace lockstep::cli {

struct Example {
  std::string command;
  std::string what;
};

// What a command is handed besides the values its flags have set.
struct Invocation {
  Console& console;
  std::vector<std::string> arguments;  // everything after the program's name, as it was typed
};

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  virtual std::vector<Example> examples() const = 0;  // two to four; the help begins with them
  // The table of flags, bound to this command's options.
  virtual std::vector<Flag> flags() = 0;
  // Returns the exit code; throws base::Error.
  virtual int run(const Invocation& invocation) = 0;
};

using Commands = std::vector<std::unique_ptr<Command>>;

}  // namespace lockstep::cli
