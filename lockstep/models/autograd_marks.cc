#include "lockstep/models/autograd_marks.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "lockstep/models/runner.h"
#include "lockstep/models/segment.h"

namespace lockstep::models {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// Autograd's contexts keep values, not our objects: the pointers travel as integers. Runner and unit outlive
// the graph of a pass.
template <class Object>
std::int64_t as_number(Object& object) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&object));
}
template <class Object>
Object& from_number(const AutogradContext* context, const char* name) {
  const auto number = static_cast<std::intptr_t>(context->saved_data.at(name).toInt());
  return *reinterpret_cast<Object*>(number);
}

void remember(AutogradContext* context, std::int64_t runner, std::int64_t unit) {
  context->saved_data["runner"] = runner;
  context->saved_data["unit"] = unit;
}

struct Mark : Function<Mark> {
  static Variable forward(AutogradContext* context, const Variable& tensor, std::int64_t runner,
                          std::int64_t unit, bool leaves) {
    remember(context, runner, unit);
    context->saved_data["leaves"] = leaves;
    return tensor.detach();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto& runner = from_number<Runner>(context, "runner");
    auto& unit = from_number<Unit>(context, "unit");
    context->saved_data.at("leaves").toBool() ? runner.leave_backward(unit) : runner.enter_backward(unit);
    return {gradients[0], Variable(), Variable(), Variable()};
  }
};

struct Recompute : Function<Recompute> {
  // The anchor needs a gradient (and gets none), so that the node is recorded for a unit whose input is data.
  static Variable forward(AutogradContext* context, const Variable& input, const Variable& /*anchor*/,
                          std::int64_t runner, std::int64_t unit) {
    remember(context, runner, unit);
    context->save_for_backward({input});
    return from_number<Unit>(context, "unit").forward(from_number<Runner>(context, "runner"), input);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto& runner = from_number<Runner>(context, "runner");
    auto& unit = from_number<Unit>(context, "unit");
    const Variable input = context->get_saved_variables()[0];
    return {runner.recompute_backward(unit, input, gradients[0]), Variable(), Variable(), Variable()};
  }
};

bool trains(const Unit& unit);

bool trains_one_of(std::span<const std::unique_ptr<Unit>> units) {
  return std::any_of(units.begin(), units.end(), [](const auto& unit) { return trains(*unit); });
}

bool trains(const Unit& unit) {
  for (const Parameter& parameter : unit.own_parameters()) {
    if (parameter.value.requires_grad()) return true;
  }
  const auto* segment = dynamic_cast<const Segment*>(&unit);
  return trains_one_of(segment != nullptr ? segment->members() : unit.children());
}

}  // namespace

at::Tensor mark_input(Runner& runner, Unit& unit, const at::Tensor& input) {
  return Mark::apply(input, as_number(runner), as_number(unit), true);
}

at::Tensor mark_output(Runner& runner, Unit& unit, const at::Tensor& output) {
  return Mark::apply(output, as_number(runner), as_number(unit), false);
}

at::Tensor run_without_keeping(Runner& runner, Unit& unit, const at::Tensor& input) {
  at::Tensor anchor = at::empty({0});
  anchor.set_requires_grad(trains(unit));
  return Recompute::apply(input, anchor, as_number(runner), as_number(unit));
}

}  // namespace lockstep::models
