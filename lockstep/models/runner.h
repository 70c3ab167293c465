// Runs units: the one call site of forward and backward.
//
// A *pass* is one forward and the backward that belongs to it. Randomness inside a pass is a pure function of
// its PassKey, the unit's path and the sample, so that it depends neither on how samples are spread over
// workers nor on how often a unit is run (recomputation runs it twice).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/models/hooks.h"
#include "lockstep/models/unit.h"

namespace lockstep::models {

struct PassKey {
  bool training = true;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  // The global sample index of every row of the batch, kept alive by the caller until backward is over; when
  // empty, row i is sample first_sample + i.
  std::span<const std::int64_t> samples = {};
  std::int64_t first_sample = 0;
  // On a GPU: step and samples once more, in its memory, so that a graph of the pass can be replayed with
  // others. Null: they are not there.
  const std::int64_t* device_step = nullptr;
  const std::int64_t* device_samples = nullptr;
};

// One per replica; not for several threads at once.
class Runner {
 public:
  // Registers the hooks with every unit below root that they want. They must outlive the passes.
  static void attach(Unit& root, UnitHooks& hooks);
  static void detach_all(Unit& root);

  at::Tensor forward(Unit& root, const at::Tensor& input, const PassKey& key);
  // Gradients go to the parameters' .grad (accumulated, as autograd does). The loss must be a scalar.
  void backward(const at::Tensor& loss);
  // For strategies that receive the gradient of the output from elsewhere (dp).
  void backward(const at::Tensor& output, const at::Tensor& output_gradient);

  // The call site. Composite units run their children through it.
  at::Tensor run(Unit& unit, const at::Tensor& input) {
    if (costs_ == nullptr && !unit.watched()) [[likely]]
      return unit.forward(*this, input);
    return run_watched(unit, input, nullptr);
  }
  at::Tensor run(Unit& unit, const at::Tensor& input, const at::Tensor& shortcut) {
    if (costs_ == nullptr && !unit.watched()) [[likely]]
      return unit.forward_join(*this, input, shortcut);
    return run_watched(unit, input, &shortcut);
  }

  // The dry run: shapes only, on the meta device; costs are booked into the account.
  at::Tensor trace(Unit& root, const at::Tensor& meta_input, CostAccount& costs);

  bool training() const { return key_.training; }
  const PassKey& key() const { return key_; }
  std::int64_t sample_of_row(std::int64_t row) const {
    return key_.samples.empty() ? key_.first_sample + row : key_.samples[static_cast<std::size_t>(row)];
  }
  // A unit is run again inside backward: statistics have moved already and must not move twice.
  bool recomputing() const { return recomputing_; }

  // Used by the autograd nodes that the call site leaves around watched units.
  void enter_backward(Unit& unit);
  void leave_backward(Unit& unit);
  // Runs the unit again from its saved input, then its backward; returns the gradient of the input.
  at::Tensor recompute_backward(Unit& unit, const at::Tensor& input, const at::Tensor& output_gradient);

 private:
  at::Tensor run_watched(Unit& unit, const at::Tensor& input, const at::Tensor* shortcut);
  at::Tensor call(Unit& unit, const at::Tensor& input, const at::Tensor* shortcut);
  void leave_all_since(std::size_t depth);

  PassKey key_;
  CostAccount* costs_ = nullptr;
  bool recomputing_ = false;
  std::vector<Unit*> in_backward_;  // entered and not left
};

}  // namespace lockstep::models
