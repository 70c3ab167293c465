// A model is a tree of units. A unit has a name, the parameters and buffers that are its own, children, and a
// forward function. Units are run by Runner::run and by nothing else: that one call site is where hooks,
// recomputation and the counting of costs happen, so that no model file knows about them.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/models/gradient_slot.h"
#include "lockstep/models/init.h"

namespace lockstep::models {

class Runner;
class CostAccount;
class UnitHooks;

// A tensor by its full name, such as "layer1.0.conv1.weight".
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

// What a unit owns: the handle in the layer and the one here are the same tensor.
struct Parameter {
  std::string name;  // within the unit: "weight"
  at::Tensor value;
  Init init;
  std::shared_ptr<GradientSlot> slot = nullptr;  // where its gradient shall go, if not into .grad
};

class Unit {
 public:
  Unit() = default;
  virtual ~Unit() = default;
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  // Computes the output. Called by the runner only; a composite unit calls runner.run(child, x) for its
  // parts.
  virtual at::Tensor forward(Runner& runner, const at::Tensor& input) = 0;
  // For units that join a shortcut to their input (the end of a residual block). Others refuse.
  virtual at::Tensor forward_join(Runner& runner, const at::Tensor& input, const at::Tensor& shortcut);

  // The dry run: tensors on the meta device have shapes and no contents. A layer books its costs and returns
  // an output of the right shape; a composite unit's own forward does that already.
  virtual at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs);
  virtual at::Tensor trace_join(Runner& runner, const at::Tensor& input, const at::Tensor& shortcut,
                                CostAccount& costs);

  // A unit whose inside cannot be seen (a user's TorchScript module): what needs to see it refuses it by
  // name.
  virtual bool opaque() const { return false; }

  // "layer1.0.conv1"; the root's is empty.
  const std::string& path() const { return path_; }
  // Sets the paths of the whole tree; called once on the root.
  void name_tree(const std::string& path = "");

  std::span<const std::unique_ptr<Unit>> children() const { return children_; }
  std::span<const Parameter> own_parameters() const { return parameters_; }
  std::span<const Parameter> own_buffers() const { return buffers_; }

  // Where the gradient of the own parameter of that number shall go; null: into .grad, as autograd does.
  void set_gradient_slot(std::size_t index, std::shared_ptr<GradientSlot> slot);

  // A frozen unit's parameters have no gradient, and its statistics do not move.
  bool frozen() const { return frozen_; }
  void freeze(bool frozen);

  // Who is told about this unit, and whether its activations are dropped and computed again in backward.
  std::span<UnitHooks* const> hooks() const { return hooks_; }
  void add_hooks(UnitHooks& hooks) { hooks_.push_back(&hooks), watched_ = true; }
  void clear_hooks() { hooks_.clear(), watched_ = recompute_; }
  bool recompute() const { return recompute_; }
  void set_recompute(bool recompute) { recompute_ = recompute, watched_ = recompute || !hooks_.empty(); }
  // Whether the call site has anything to do besides calling forward.
  bool watched() const { return watched_; }

 protected:
  // Whether the unit writes the gradients of its parameters into their slots itself.
  virtual bool writes_slots() const { return false; }

  // The child becomes part of the tree under that name; the reference is for the unit's forward.
  template <class Child>
  Child& add(std::string name, std::unique_ptr<Child> child) {
    Child& reference = *child;
    names_.push_back(std::move(name));
    children_.push_back(std::move(child));
    return reference;
  }
  at::Tensor add_parameter(std::string name, at::Tensor value, Init init);
  at::Tensor add_buffer(std::string name, at::Tensor value, double initial);

 private:
  std::string path_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Unit>> children_;
  std::vector<Parameter> parameters_;
  std::vector<Parameter> buffers_;
  std::vector<UnitHooks*> hooks_;
  bool frozen_ = false;
  bool recompute_ = false;
  bool watched_ = false;
};

// The unit and all below it, parents before children, in the order of their names in the state.
std::vector<Unit*> all_units(Unit& root);

// Names by torchvision's rules: a unit's parameters, then its buffers, then its children's.
std::vector<NamedTensor> parameters_of(Unit& root);
std::vector<NamedTensor> buffers_of(Unit& root);
std::vector<NamedTensor> state_of(Unit& root);

}  // namespace lockstep::models
