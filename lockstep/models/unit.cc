#include "lockstep/models/unit.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::models {
namespace {

std::string full_name(const Unit& unit, const std::string& name) {
  return unit.path().empty() ? name : unit.path() + "." + name;
}

void collect(Unit& unit, std::vector<Unit*>& units) {
  units.push_back(&unit);
  for (const auto& child : unit.children()) collect(*child, units);
}

void append(const Unit& unit, std::span<const Parameter> own, std::vector<NamedTensor>& all) {
  for (const Parameter& parameter : own) all.push_back({full_name(unit, parameter.name), parameter.value});
}

}  // namespace

at::Tensor Unit::forward_join(Runner&, const at::Tensor&, const at::Tensor&) {
  throw base::ConfigError(
      fmt::format("unit '{}' does not join a shortcut; a join layer was expected", path_));
}

at::Tensor Unit::trace(Runner& runner, const at::Tensor& input, CostAccount&) {
  return forward(runner, input);
}

at::Tensor Unit::trace_join(Runner& runner, const at::Tensor& input, const at::Tensor& shortcut,
                            CostAccount&) {
  return forward_join(runner, input, shortcut);
}

void Unit::name_tree(const std::string& path) {
  path_ = path;
  for (std::size_t i = 0; i < children_.size(); ++i) children_[i]->name_tree(full_name(*this, names_[i]));
}

void Unit::set_gradient_slot(std::size_t index, std::shared_ptr<GradientSlot> slot) {
  if (slot != nullptr) slot->direct_ = writes_slots();
  parameters_.at(index).slot = std::move(slot);
}

void Unit::freeze(bool frozen) {
  frozen_ = frozen;
  for (const Parameter& parameter : parameters_) parameter.value.set_requires_grad(!frozen);
}

at::Tensor Unit::add_parameter(std::string name, at::Tensor value, Init init) {
  value.set_requires_grad(true);
  parameters_.push_back({std::move(name), value, init, nullptr});
  return value;
}

at::Tensor Unit::add_buffer(std::string name, at::Tensor value, double initial) {
  buffers_.push_back({std::move(name), value, Init::constant(initial), nullptr});
  return value;
}

std::vector<Unit*> all_units(Unit& root) {
  std::vector<Unit*> units;
  collect(root, units);
  return units;
}

std::vector<NamedTensor> parameters_of(Unit& root) {
  std::vector<NamedTensor> all;
  for (Unit* unit : all_units(root)) append(*unit, unit->own_parameters(), all);
  return all;
}

std::vector<std::shared_ptr<GradientSlot>> gradient_slots_of(Unit& root) {
  std::vector<std::shared_ptr<GradientSlot>> slots;
  for (Unit* unit : all_units(root)) {
    for (std::size_t i = 0; i < unit->own_parameters().size(); ++i) {
      if (unit->own_parameters()[i].slot == nullptr)
        unit->set_gradient_slot(i, std::make_shared<GradientSlot>());
      slots.push_back(unit->own_parameters()[i].slot);
    }
  }
  return slots;
}

void remove_gradient_slots(Unit& root) {
  for (Unit* unit : all_units(root)) {
    for (std::size_t i = 0; i < unit->own_parameters().size(); ++i) unit->set_gradient_slot(i, nullptr);
  }
}

std::vector<NamedTensor> buffers_of(Unit& root) {
  std::vector<NamedTensor> all;
  for (Unit* unit : all_units(root)) append(*unit, unit->own_buffers(), all);
  return all;
}

std::vector<NamedTensor> state_of(Unit& root) {
  std::vector<NamedTensor> all;
  for (Unit* unit : all_units(root)) {
    append(*unit, unit->own_parameters(), all);
    append(*unit, unit->own_buffers(), all);
  }
  return all;
}

}  // namespace lockstep::models
