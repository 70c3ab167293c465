#include "lockstep/models/runner.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "lockstep/models/autograd_marks.h"
#include "lockstep/models/cost.h"

namespace lockstep::models {
namespace {

// Sets a value for the length of a scope.
template <class Value>
class Scoped {
 public:
  Scoped(Value& place, Value value) : place_(place), before_(place) { place = value; }
  ~Scoped() { place_ = before_; }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  Value& place_;
  Value before_;
};

bool records_gradients(const at::Tensor& tensor) {
  return at::GradMode::is_enabled() && tensor.requires_grad();
}

}  // namespace

void Runner::attach(Unit& root, UnitHooks& hooks) {
  for (Unit* unit : all_units(root)) {
    if (hooks.wants(*unit)) unit->add_hooks(hooks);
  }
}

void Runner::detach_all(Unit& root) {
  for (Unit* unit : all_units(root)) unit->clear_hooks();
}

at::Tensor Runner::forward(Unit& root, const at::Tensor& input, const PassKey& key) {
  key_ = key;
  in_backward_.clear();
  return run(root, input);
}

void Runner::backward(const at::Tensor& loss) {
  torch::autograd::backward({loss}, {});
  leave_all_since(0);
}

void Runner::backward(const at::Tensor& output, const at::Tensor& output_gradient) {
  torch::autograd::backward({output}, {output_gradient});
  leave_all_since(0);
}

at::Tensor Runner::trace(Unit& root, const at::Tensor& meta_input, CostAccount& costs) {
  const Scoped<CostAccount*> scope(costs_, &costs);
  costs.ignore(meta_input);
  return run(root, meta_input);
}

at::Tensor Runner::run_watched(Unit& unit, const at::Tensor& input, const at::Tensor* shortcut) {
  if (costs_ != nullptr) {
    const CostAccount::Scope scope(*costs_, unit);
    return shortcut ? unit.trace_join(*this, input, *shortcut, *costs_) : unit.trace(*this, input, *costs_);
  }
  const auto hooks = unit.hooks();
  for (UnitHooks* hook : hooks) hook->before_forward(unit, input);
  const bool marked = !hooks.empty();
  at::Tensor output =
      call(unit, marked && records_gradients(input) ? mark_input(*this, unit, input) : input, shortcut);
  for (auto hook = hooks.rbegin(); hook != hooks.rend(); ++hook) (*hook)->after_forward(unit, output);
  return marked && records_gradients(output) ? mark_output(*this, unit, output) : output;
}

at::Tensor Runner::call(Unit& unit, const at::Tensor& input, const at::Tensor* shortcut) {
  if (shortcut != nullptr) return unit.forward_join(*this, input, *shortcut);
  if (unit.recompute() && at::GradMode::is_enabled()) return run_without_keeping(*this, unit, input);
  return unit.forward(*this, input);
}

void Runner::enter_backward(Unit& unit) {
  in_backward_.push_back(&unit);
  for (UnitHooks* hook : unit.hooks()) hook->before_backward(unit);
}

void Runner::leave_backward(Unit& unit) {
  const auto entered = std::find(in_backward_.rbegin(), in_backward_.rend(), &unit);
  if (entered == in_backward_.rend()) return;
  in_backward_.erase(std::next(entered).base());
  const auto hooks = unit.hooks();
  for (auto hook = hooks.rbegin(); hook != hooks.rend(); ++hook) (*hook)->after_backward(unit);
}

// Units whose input needs no gradient have no node that would tell when they are done.
void Runner::leave_all_since(std::size_t depth) {
  while (in_backward_.size() > depth) leave_backward(*in_backward_.back());
}

at::Tensor Runner::recompute_backward(Unit& unit, const at::Tensor& input,
                                      const at::Tensor& output_gradient) {
  const Scoped<bool> recomputing(recomputing_, true);
  const at::AutoGradMode with_gradients(true);
  const std::size_t depth = in_backward_.size();
  at::Tensor start = input.detach();
  start.set_requires_grad(input.requires_grad());
  const at::Tensor output = unit.forward(*this, start);
  if (output.requires_grad()) torch::autograd::backward({output}, {output_gradient});
  leave_all_since(depth);
  return start.grad();
}

}  // namespace lockstep::models
