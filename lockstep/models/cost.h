// What a model costs, found by a dry run over shapes: floating-point operations, and the bytes that forward
// keeps for backward. Both are booked by the layers themselves, each beside the arithmetic it describes.
//
// A *storage* is counted once however many layers keep it (a ReLU in place keeps what the next convolution
// keeps).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace lockstep::models {

class Unit;

struct UnitCost {
  std::string path;
  std::int64_t forward_flops = 0;  // a multiply-add is two
  std::int64_t backward_flops = 0;
  std::int64_t activation_bytes = 0;
  std::vector<std::int64_t> output_sizes;
};

class CostAccount {
 public:
  // Costs booked during the scope belong to the unit.
  class Scope {
   public:
    Scope(CostAccount& account, const Unit& unit);
    ~Scope() { account_.current_ = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    CostAccount& account_;
    std::size_t before_;
  };

  // An output of that shape, of the input's type; it needs a gradient when anything it was made from does.
  at::Tensor output(at::IntArrayRef sizes, const at::Tensor& input, bool trains = false);

  // forward does `flops`; backward does them once for the input's gradient and once for the weight's, if
  // needed.
  void matrix_work(std::int64_t flops, const at::Tensor& input, bool trains);
  // One pass over the elements, `flops_each` forward and as many backward.
  void element_work(const at::Tensor& tensor, std::int64_t flops_each);

  // The tensor is kept for backward (its whole storage, once).
  void keep(const at::Tensor& tensor);
  void keep_bytes(std::int64_t bytes);
  // The tensor is held by somebody else anyway (the batch): keeping it costs nothing.
  void ignore(const at::Tensor& tensor);

  const std::vector<UnitCost>& units() const { return units_; }
  std::int64_t forward_flops() const;
  std::int64_t backward_flops() const;
  std::int64_t activation_bytes() const;

 private:
  UnitCost& current();

  std::vector<UnitCost> units_;
  std::size_t current_ = 0;
  std::unordered_set<const void*> kept_;
  std::vector<at::Tensor> alive_;  // so that no storage is taken for another one
};

}  // namespace lockstep::models
