#include "lockstep/record/catalogue_parts.h"

#include <algorithm>
#include <array>

#include "lockstep/record/catalogue_entry.h"
#include "lockstep/record/catalogue_input.h"

namespace lockstep::record {
namespace {

constexpr std::array<ModelParts, 11> kParts = {{
    {"lenet5", 5, 0, Groups::none, true, false},
    {"vit", 3, 5, Groups::blocks, true, false},
    {"resnet18", 41, 0, Groups::blocks, true, true},
    {"resnet18-cifar", 41, 0, Groups::blocks, true, true},
    {"squeezenet1_0", 26, 0, Groups::blocks, true, false},
    {"densenet121", 242, 0, Groups::blocks, true, true},
    {"alexnet", 8, 0, Groups::blocks, true, false},
    {"vgg16", 16, 0, Groups::blocks, true, false},
    {"pilotnet", 9, 0, Groups::blocks, true, false},
    {"deepwide", 1, 1, Groups::chain, true, false},
    {"restorer", 0, 1, Groups::chain, false, false},
}};

}  // namespace

std::span<const ModelParts> model_parts() {
  return kParts;
}

const ModelParts* parts_of(const RunSpec& spec) {
  return find_entry(model_parts(), spec.model);
}

std::optional<std::int64_t> layers_of(const RunSpec& spec) {
  const ModelParts* parts = parts_of(spec);
  if (parts == nullptr) return std::nullopt;
  if (parts->layers_per_depth == 0) return parts->layers;
  const double depth = std::clamp(model_options(spec).at("depth"), 0.0, 1e6);  // more is refused by itself
  return parts->layers + parts->layers_per_depth * static_cast<std::int64_t>(depth);
}

}  // namespace lockstep::record
