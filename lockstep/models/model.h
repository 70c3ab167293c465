// A model that is ready to run: a tree of units with its parameters filled, and what is known about it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/models/layer_factory.h"
#include "lockstep/models/loss_kind.h"
#include "lockstep/models/options.h"
#include "lockstep/models/unit.h"

namespace lockstep::models {

class Model {
 public:
  Model(std::string name, LossKind loss, std::string head, const ModelOptions& options,
        std::unique_ptr<Unit> root);

  const std::string& name() const { return name_; }
  LossKind loss() const { return loss_; }
  // The path of the unit that makes the output; empty when there is no such unit.
  const std::string& head() const { return head_; }
  // As resolved: nothing is left at zero that the model has.
  const ModelOptions& options() const { return options_; }
  Unit& root() const { return *root_; }

  std::vector<NamedTensor> parameters() const { return parameters_of(*root_); }
  std::vector<NamedTensor> buffers() const { return buffers_of(*root_); }
  // Parameters and buffers, in the order of torchvision's state_dict.
  std::vector<NamedTensor> state() const { return state_of(*root_); }
  std::int64_t parameter_count() const;

 private:
  std::string name_;
  LossKind loss_;
  std::string head_;
  ModelOptions options_;
  std::unique_ptr<Unit> root_;
};

// A registered name, or the path of a TorchScript file (it ends in .pt). Parameters are filled from the seed:
// the same seed and options give the same values in any process, with any number of threads and on any
// machine.
Model build_model(std::string_view name, const ModelOptions& options, LayerFactory& layers,
                  std::uint64_t seed);

// The same tree with its tensors on the meta device: shapes and no memory.
Model sketch_model(std::string_view name, const ModelOptions& options, LayerOptions layers);

// Fills every parameter and buffer with its initial value.
void initialise(Unit& root, std::uint64_t seed);

// Reads a TorchScript module as a model of one opaque unit. Throws DataError for a file that is none,
// ConfigError for one whose forward does not take exactly one tensor.
Model load_script_model(const std::string& path, const ModelOptions& options, const LayerOptions& layers);

}  // namespace lockstep::models
