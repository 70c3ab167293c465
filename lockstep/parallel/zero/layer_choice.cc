#include "lockstep/parallel/zero/layer_choice.h"

#include <algorithm>

#include "lockstep/parallel/bucket_layout.h"

namespace lockstep::parallel {
namespace {

constexpr std::size_t kPartsOfTheModel = 8;
constexpr std::size_t kNotCutBytes = 64 << 10;

std::size_t bytes_below(models::Unit& unit) {
  std::size_t bytes = 0;
  for (const models::NamedTensor& named : models::parameters_of(unit)) bytes += named.tensor.nbytes();
  return bytes;
}

void add_own(models::Unit& owner, bool trained, Layer& layer) {
  for (const models::Parameter& parameter : owner.own_parameters()) {
    if (parameter.value.requires_grad() != trained) continue;
    const std::string& path = owner.path();
    layer.parameters.push_back(
        {path.empty() ? parameter.name : path + "." + parameter.name, parameter.value});
    layer.slots.push_back(parameter.slot);
  }
}

// Tensors that leave what follows them aligned come first, as in a bucket.
void put_aligned_first(Layer& layer) {
  Layer ordered{layer.unit, layer.trained, {}, {}};
  for (const bool aligned : {true, false}) {
    for (std::size_t index = 0; index < layer.parameters.size(); ++index) {
      if (keeps_alignment(layer.parameters[index].tensor.nbytes()) != aligned) continue;
      ordered.parameters.push_back(layer.parameters[index]);
      ordered.slots.push_back(layer.slots[index]);
    }
  }
  layer = std::move(ordered);
}

// The parameters of `owners`, as a layer of trained ones and a layer of frozen ones, where there are any.
void add_layers(models::Unit& unit, const std::vector<models::Unit*>& owners, std::vector<Layer>& layers) {
  for (const bool trained : {true, false}) {
    Layer layer{&unit, trained, {}, {}};
    for (models::Unit* owner : owners) add_own(*owner, trained, layer);
    put_aligned_first(layer);
    if (!layer.parameters.empty()) layers.push_back(std::move(layer));
  }
}

void choose_below(models::Unit& unit, bool is_root, std::size_t largest, std::vector<Layer>& layers) {
  const bool whole = unit.children().empty() || (!is_root && bytes_below(unit) <= largest);
  if (whole) return add_layers(unit, models::all_units(unit), layers);
  add_layers(unit, {&unit}, layers);
  for (const auto& child : unit.children()) choose_below(*child, false, largest, layers);
}

}  // namespace

std::vector<Layer> choose_layers(models::Unit& root) {
  models::gradient_slots_of(root);
  std::vector<Layer> layers;
  choose_below(root, true, std::max(kNotCutBytes, bytes_below(root) / kPartsOfTheModel), layers);
  return layers;
}

}  // namespace lockstep::parallel
