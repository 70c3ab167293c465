#include "lockstep/models/model.h"

#include <ATen/ATen.h>

#include "lockstep/models/layers/standard_layers.h"
#include "lockstep/models/registry.h"

namespace lockstep::models {
namespace {

bool is_file(std::string_view name) {
  return name.ends_with(".pt") || name.find('/') != std::string_view::npos;
}

Model build_registered(const ModelEntry& entry, const ModelOptions& asked, LayerFactory& layers) {
  const ModelOptions options = resolve(entry.name, entry.limits, asked);
  return Model(std::string(entry.name), entry.loss, std::string(entry.head), options,
               entry.build(layers, options));
}

std::string full_name(const Unit& unit, const Parameter& parameter) {
  return unit.path() + "." + parameter.name;
}

}  // namespace

Model::Model(std::string name, LossKind loss, std::string head, const ModelOptions& options,
             std::unique_ptr<Unit> root)
    : name_(std::move(name)), loss_(loss), head_(std::move(head)), options_(options), root_(std::move(root)) {
  root_->name_tree();
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const NamedTensor& parameter : parameters()) count += parameter.tensor.numel();
  return count;
}

void initialise(Unit& root, std::uint64_t seed) {
  for (Unit* unit : all_units(root)) {
    for (const Parameter& parameter : unit->own_parameters()) {
      fill(parameter.value, parameter.init, seed, full_name(*unit, parameter));
    }
    for (const Parameter& buffer : unit->own_buffers()) {
      fill(buffer.value, buffer.init, seed, full_name(*unit, buffer));
    }
  }
}

Model build_model(std::string_view name, const ModelOptions& options, LayerFactory& layers,
                  std::uint64_t seed) {
  if (is_file(name)) return load_script_model(std::string(name), options, layers.options());
  Model model = build_registered(model_entry(name), options, layers);
  initialise(model.root(), seed);
  return model;
}

Model sketch_model(std::string_view name, const ModelOptions& options, LayerOptions layers) {
  layers.device = at::kMeta;
  StandardLayers shapes(layers);
  return build_registered(model_entry(name), options, shapes);
}

}  // namespace lockstep::models
