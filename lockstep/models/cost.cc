#include "lockstep/models/cost.h"

#include <ATen/ATen.h>

#include "lockstep/models/unit.h"

namespace lockstep::models {
namespace {

template <class Field>
std::int64_t sum(const std::vector<UnitCost>& units, Field field) {
  std::int64_t total = 0;
  for (const UnitCost& unit : units) total += unit.*field;
  return total;
}

}  // namespace

CostAccount::Scope::Scope(CostAccount& account, const Unit& unit)
    : account_(account), before_(account.current_) {
  account.units_.push_back({unit.path(), 0, 0, 0, {}});
  account.current_ = account.units_.size() - 1;
}

UnitCost& CostAccount::current() {
  if (units_.empty()) units_.emplace_back();
  return units_[current_];
}

at::Tensor CostAccount::output(at::IntArrayRef sizes, const at::Tensor& input, bool trains) {
  at::Tensor made = at::empty(sizes, input.options().requires_grad(false));
  made.set_requires_grad(trains || input.requires_grad());
  current().output_sizes = sizes.vec();
  alive_.push_back(made);
  return made;
}

void CostAccount::matrix_work(std::int64_t flops, const at::Tensor& input, bool trains) {
  current().forward_flops += flops;
  current().backward_flops += flops * ((input.requires_grad() ? 1 : 0) + (trains ? 1 : 0));
}

void CostAccount::element_work(const at::Tensor& tensor, std::int64_t flops_each) {
  current().forward_flops += tensor.numel() * flops_each;
  if (tensor.requires_grad()) current().backward_flops += tensor.numel() * flops_each;
}

void CostAccount::keep(const at::Tensor& tensor) {
  const auto* storage = tensor.storage().unsafeGetStorageImpl();
  if (!kept_.insert(storage).second) return;
  alive_.push_back(tensor);
  keep_bytes(static_cast<std::int64_t>(tensor.storage().nbytes()));
}

void CostAccount::keep_bytes(std::int64_t bytes) {
  current().activation_bytes += bytes;
}

void CostAccount::ignore(const at::Tensor& tensor) {
  kept_.insert(tensor.storage().unsafeGetStorageImpl());
  alive_.push_back(tensor);
}

std::int64_t CostAccount::forward_flops() const {
  return sum(units_, &UnitCost::forward_flops);
}
std::int64_t CostAccount::backward_flops() const {
  return sum(units_, &UnitCost::backward_flops);
}
std::int64_t CostAccount::activation_bytes() const {
  return sum(units_, &UnitCost::activation_bytes);
}

}  // namespace lockstep::models
