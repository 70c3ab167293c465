// The parameters of one layer in one piece of memory that comes and goes. The parameters, and whatever views
// of them autograd keeps for backward, share one storage: when its memory is taken away and given back, all
// of them see it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lockstep/comm/buffer.h"
#include "lockstep/models/unit.h"

namespace lockstep::parallel {

class FlatParameters {
 public:
  // The parameters keep their values, sizes, strides and order.
  explicit FlatParameters(const std::vector<models::NamedTensor>& parameters);
  FlatParameters(FlatParameters&&) = default;

  std::size_t elements() const { return elements_; }
  // Takes the memory away: the parameters must not be read until it is back.
  void drop();
  // Memory again, without values; counts as measure::Use::parameters.
  void make_room();
  bool has_room() const;
  // All elements, one after another.
  comm::Buffer buffer() const;
  const at::Tensor& row() const { return row_; }  // [elements]

 private:
  std::size_t elements_ = 0;
  at::Tensor row_;
};

// Rows of elements as views of the shape, strides and order of each tensor.
std::vector<at::Tensor> views_into(const at::Tensor& row, const std::vector<models::NamedTensor>& tensors);

}  // namespace lockstep::parallel
