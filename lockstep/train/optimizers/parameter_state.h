// What an optimiser remembers about every parameter: a few tensors each, of the parameter's shape and memory
// order and, for bf16 parameters, in f32 with the exact weights among them.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "lockstep/models/unit.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::train {

class ParameterState {
 public:
  // `kinds`: "momentum", ... in the order of the kernels' first and second.
  explicit ParameterState(std::vector<std::string> kinds) : kinds_(std::move(kinds)) {}

  struct Entry {
    std::string name;                 // the parameter's
    at::Tensor master;                // f32 weights of a bf16 parameter, else undefined
    std::vector<at::Tensor> tensors;  // by kind
  };

  int kinds() const { return static_cast<int>(kinds_.size()); }
  bool made() const { return made_; }
  // Zeros, and masters from the values; counts as measure::Use::optimizer.
  void make(std::span<const parallel::Updatable> updatables);
  void forget();
  std::vector<Entry>& entries() { return entries_; }

  std::vector<models::NamedTensor> named() const;
  // Throws DataError that names every tensor that is missing or of another shape; changes nothing then.
  void load(std::span<const parallel::Updatable> updatables, const std::vector<models::NamedTensor>& from);

 private:
  std::vector<std::string> kinds_;
  std::vector<Entry> entries_;
  bool made_ = false;
};

}  // namespace lockstep::train
