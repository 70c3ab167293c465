#include "lockstep/train/worker/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::train {

Arguments::Arguments(const std::vector<std::string>& words, const std::vector<std::string>& known,
                     const std::vector<std::string>& known_switches) {
  const auto holds = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string& word = words[index];
    if (holds(known_switches, word)) {
      values_[word] = "";
    } else if (!holds(known, word)) {
      throw base::UsageError(fmt::format("lockstep-worker does not know '{}' here; it takes: {}.", word,
                                         base::join(known, ", ")));
    } else if (index + 1 == words.size()) {
      throw base::UsageError(fmt::format("lockstep-worker: {} needs a value.", word));
    } else {
      values_[word] = words[++index];
    }
  }
}

std::optional<std::string> Arguments::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::string Arguments::need(const std::string& name) const {
  if (const auto value = find(name)) return *value;
  throw base::UsageError(fmt::format("lockstep-worker: {} is needed here.", name));
}

}  // namespace lockstep::train
