#include "lockstep/models/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/models/zoo/chain.h"

namespace lockstep::models {
namespace {

bool is_layer(const std::unique_ptr<Unit>& unit) {
  return unit->children().empty();
}

// One layer alone keeps what it is given, which is what dropping it would keep.
constexpr std::size_t kShortestChain = 3;

std::size_t drop_by_segments(Chain& chain) {
  const std::size_t layers = chain.children().size();
  if (layers < kShortestChain) return 0;
  const auto length = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(layers))));
  chain.recompute_by_segments(length);
  return (layers + length - 1) / length;
}

std::size_t drop_below(Unit& unit, bool is_root) {
  const auto children = unit.children();
  auto* const chain = dynamic_cast<Chain*>(&unit);
  if (chain != nullptr && std::all_of(children.begin(), children.end(), is_layer))
    return drop_by_segments(*chain);
  if (chain == nullptr && !is_root && !children.empty()) {
    unit.set_recompute(true);
    return 1;
  }
  std::size_t dropped = 0;
  for (const auto& child : children) dropped += drop_below(*child, false);
  return dropped;
}

}  // namespace

std::size_t recompute_activations(Model& model) {
  if (model.root().opaque())
    throw base::ConfigError(fmt::format(
        "--recompute runs blocks of a model again, and the inside of {} cannot be seen. Use --accumulate.",
        model.name()));
  const std::size_t dropped = drop_below(model.root(), true);
  if (dropped == 0)
    throw base::ConfigError(fmt::format(
        "--recompute drops the activations of blocks and chains of layers, and model {} has none. Use "
        "--accumulate.",
        model.name()));
  return dropped;
}

}  // namespace lockstep::models
