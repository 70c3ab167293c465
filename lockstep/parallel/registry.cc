// The strategies of this build, by name.
#include <array>

#include "lockstep/base/error.h"
#include "lockstep/parallel/ddp.h"
#include "lockstep/parallel/dp/dp.h"
#include "lockstep/parallel/horovod/horovod.h"
#include "lockstep/parallel/local_sgd.h"
#include "lockstep/parallel/single.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/parallel/zero/zero1.h"
#include "lockstep/parallel/zero/zero3.h"

namespace lockstep::parallel {
namespace {

template <class Kind>
std::unique_ptr<Strategy> make(const Surroundings& surroundings) {
  return std::make_unique<Kind>(surroundings);
}

struct Entry {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)(const Surroundings&);
};

constexpr std::array kStrategies = {
    Entry{"single", make<Single>},   Entry{"ddp", make<Ddp>},           Entry{"dp", make<Dp>},
    Entry{"horovod", make<Horovod>}, Entry{"localsgd", make<LocalSgd>}, Entry{"zero1", make<Zero1>},
    Entry{"zero3", make<Zero3>},
};

}  // namespace

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kStrategies) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Strategy> make_strategy(const Surroundings& surroundings) {
  for (const Entry& entry : kStrategies) {
    if (entry.name == surroundings.spec.strategy) return entry.make(surroundings);
  }
  throw base::ConfigError(fmt::format("this worker has no strategy '{}'; see `lockstep strategies`.",
                                      surroundings.spec.strategy));
}

}  // namespace lockstep::parallel
