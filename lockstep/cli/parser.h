// Reads the command line. CLI11 does the splitting into words and values, here and nowhere else; its errors
// become ours, with the misspelt word and what it was meant to be.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cli/command.h"

namespace lockstep::cli {

struct CommonOptions {
  bool help = false;
  bool version = false;
  std::string color = "auto";
};

struct ParsedLine {
  CommonOptions common;
  Command* command = nullptr;  // none was given
};

// The flags that the program itself and every command take.
std::vector<Flag> program_flags(CommonOptions& options);
std::vector<Flag> common_flags(CommonOptions& options);

// Sets the options of the command that was named. Throws UsageError. When help is asked for, nothing else is
// checked.
ParsedLine parse_line(const std::vector<std::string>& arguments, const Commands& commands);

// `--batch_size=4` becomes `--batch-size=4`; what follows a bare `--` stays.
std::vector<std::string> with_dashes(std::vector<std::string> arguments);

}  // namespace lockstep::cli
