// The arguments of `lockstep-worker`: a command and `--name value` pairs. People use `lockstep`; this is what
// it starts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::train {

class Arguments {
 public:
  // `known`: the names the command takes. Throws UsageError for anything else, and for a name without a
  // value.
  Arguments(const std::vector<std::string>& words, const std::vector<std::string>& known,
            const std::vector<std::string>& known_switches = {});

  std::optional<std::string> find(const std::string& name) const;
  // Throws UsageError when it was not given.
  std::string need(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace lockstep::train
