// Lists of tensors with gradients that change from step to step, and specs of update rules.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/train/optimizer.h"

namespace lockstep::train {

inline at::Tensor noise(at::IntArrayRef shape, std::int64_t seed, at::ScalarType type) {
  at::Generator generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(seed));
  return at::randn(shape, generator, at::TensorOptions().dtype(at::kDouble)).to(type);
}

// A large tensor, odd lengths, a scalar, an empty one: what a real model and its shards bring.
inline const std::vector<std::vector<std::int64_t>>& shapes() {
  static const std::vector<std::vector<std::int64_t>> all = {{130, 301}, {7}, {16, 3, 3, 3}, {1},
                                                             {},         {0}, {33}};
  return all;
}

inline std::vector<parallel::Updatable> make_list(at::ScalarType type) {
  std::vector<parallel::Updatable> list;
  for (std::size_t i = 0; i < shapes().size(); ++i) {
    const auto seed = static_cast<std::int64_t>(i);
    list.push_back({"p" + std::to_string(i), noise(shapes()[i], seed, type), at::Tensor()});
  }
  return list;
}

// By step, then by tensor.
using Gradients = std::vector<std::vector<at::Tensor>>;

inline Gradients make_gradients(const std::vector<parallel::Updatable>& list, std::int64_t steps) {
  Gradients all(static_cast<std::size_t>(steps));
  for (std::int64_t step = 0; step < steps; ++step) {
    for (const parallel::Updatable& one : list) {
      const auto index = static_cast<std::int64_t>(all[static_cast<std::size_t>(step)].size());
      all[static_cast<std::size_t>(step)].push_back(
          noise(one.value.sizes(), 1000 * (step + 1) + index, one.value.scalar_type()));
    }
  }
  return all;
}

inline void set_gradients(std::vector<parallel::Updatable>& list, const std::vector<at::Tensor>& gradients) {
  for (std::size_t i = 0; i < list.size(); ++i) list[i].gradient = gradients[i];
}

inline double rate_of(std::size_t step) {
  return 0.05 / (1.0 + 0.1 * static_cast<double>(step));
}

inline void run_steps(Optimizer& optimizer, std::vector<parallel::Updatable>& list,
                      const Gradients& gradients, std::size_t begin, std::size_t end) {
  for (std::size_t step = begin; step < end; ++step) {
    set_gradients(list, gradients[step]);
    optimizer.step(list, rate_of(step));
  }
}

inline record::RunSpec rule(const std::string& name, double momentum = 0.9, double weight_decay = 0,
                            bool nesterov = false) {
  record::RunSpec spec;
  spec.optimizer = name;
  spec.momentum = momentum;
  spec.weight_decay = weight_decay;
  spec.nesterov = nesterov;
  return spec;
}

inline std::vector<record::RunSpec> all_rules() {
  return {rule("sgd", 0),         rule("sgd", 0, 0.01),      rule("sgd"),
          rule("sgd", 0.9, 0.01), rule("sgd", 0.8, 0, true), rule("sgd", 0.9, 0.01, true),
          rule("adam"),           rule("adam", 0, 0.01),     rule("adamw"),
          rule("adamw", 0, 0.01)};
}

inline std::string text_of(const record::RunSpec& spec) {
  return spec.optimizer + " momentum " + std::to_string(spec.momentum) + " decay " +
         std::to_string(spec.weight_decay) + (spec.nesterov ? " nesterov" : "");
}

// Bit for bit; memory order does not count.
inline bool same_bits(const at::Tensor& one, const at::Tensor& other) {
  return one.scalar_type() == other.scalar_type() && one.sizes() == other.sizes() && at::equal(one, other);
}

inline double largest_difference(const at::Tensor& one, const at::Tensor& other) {
  if (one.numel() == 0) return 0;
  return (one.to(at::kDouble) - other.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace lockstep::train
