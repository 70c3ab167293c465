#include "lockstep/cli/flag.h"

#include "lockstep/base/text.h"

namespace lockstep::cli {

std::vector<std::string> spellings(const Flag& flag) {
  return base::split(flag.names, ',');
}

}  // namespace lockstep::cli
