#include "lockstep/cli/flag.h"

#include "lockstep/base/text.h"

namespace lockstep::cli {

std::vector<std::string> spellings(const Flag& flag) {
  if (flag.truth) return {"--no-" + flag.names.substr(2), flag.names};
  return base::split(flag.names, ',');
}

}  // namespace lockstep::cli
