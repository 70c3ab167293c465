// The standard layers. A factory of one's own may derive from them to keep names, initialisation and costs
// and to replace the arithmetic.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lockstep/models/layer_factory.h"
#include "lockstep/models/unit.h"

namespace lockstep::models {

// An uninitialised tensor of the factory's type and device.
at::Tensor make_tensor(const LayerOptions& options, at::IntArrayRef sizes);

// The activation after a layer, in place where autograd allows; and its costs.
at::Tensor apply_activation(Activation kind, at::Tensor value);
at::Tensor trace_activation(Activation kind, at::Tensor value, CostAccount& costs);

class Conv2d : public Unit {
 public:
  Conv2d(const LayerOptions& options, const Conv2dSpec& spec);
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 protected:
  Conv2dSpec spec_;
  at::Tensor weight_;  // [out, in, kernel, kernel]
  at::Tensor bias_;    // [out], or undefined
};

class Linear : public Unit {
 public:
  Linear(const LayerOptions& options, const LinearSpec& spec);
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 protected:
  bool writes_slots() const override { return true; }

  LinearSpec spec_;
  at::Tensor weight_;  // [out, in]
  at::Tensor bias_;    // [out]
};

class BatchNorm2d : public Unit {
 public:
  BatchNorm2d(const LayerOptions& options, const BatchNorm2dSpec& spec)
      : BatchNorm2d(options, spec, options.dtype) {}
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor forward_join(Runner& runner, const at::Tensor& input, const at::Tensor& shortcut) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;
  at::Tensor trace_join(Runner& runner, const at::Tensor& input, const at::Tensor& shortcut,
                        CostAccount& costs) override;

 protected:
  BatchNorm2d(const LayerOptions& options, const BatchNorm2dSpec& spec, at::ScalarType statistics);
  // The normalisation itself, without shortcut and activation.
  virtual at::Tensor normalise(Runner& runner, const at::Tensor& input);
  bool uses_batch_statistics(const Runner& runner) const;
  bool updates_statistics(const Runner& runner) const;
  void count_batch();

  BatchNorm2dSpec spec_;
  at::Tensor weight_;           // [channels]
  at::Tensor bias_;             // [channels]
  at::Tensor running_mean_;     // [channels]
  at::Tensor running_var_;      // [channels], unbiased
  at::Tensor batches_tracked_;  // scalar, int64
};

class LayerNorm : public Unit {
 public:
  LayerNorm(const LayerOptions& options, const LayerNormSpec& spec);
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 protected:
  bool writes_slots() const override { return true; }

  LayerNormSpec spec_;
  at::Tensor weight_;  // [width]
  at::Tensor bias_;    // [width]
};

class HeadAttention : public Unit {
 public:
  HeadAttention(const LayerOptions& options, const HeadAttentionSpec& spec);
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 protected:
  void add_map(const LayerOptions& options, const std::string& map);

  HeadAttentionSpec spec_;
  std::vector<at::Tensor> weights_;  // q of every head, then k, then v: each [head width, head width]
  std::vector<at::Tensor> biases_;   // the same order: each [head width]
};

class ActivationLayer : public Unit {
 public:
  explicit ActivationLayer(Activation kind) : kind_(kind) {}
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 private:
  Activation kind_;
};

class MaxPool2d : public Unit {
 public:
  explicit MaxPool2d(const Pool2dSpec& spec) : spec_(spec) {}
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 private:
  Pool2dSpec spec_;
};

class AvgPool2d : public Unit {
 public:
  explicit AvgPool2d(const Pool2dSpec& spec) : spec_(spec) {}
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 private:
  Pool2dSpec spec_;
};

class AdaptiveAvgPool2d : public Unit {
 public:
  explicit AdaptiveAvgPool2d(std::int64_t out_side) : out_side_(out_side) {}
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 private:
  std::int64_t out_side_;
};

class Dropout : public Unit {
 public:
  explicit Dropout(double probability) : probability_(probability) {}
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;
  at::Tensor trace(Runner& runner, const at::Tensor& input, CostAccount& costs) override;

 private:
  at::Tensor mask(const Runner& runner, const at::Tensor& input) const;
  double probability_;
};

}  // namespace lockstep::models
