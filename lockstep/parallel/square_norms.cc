#include "lockstep/parallel/square_norms.h"

#include <ATen/ATen.h>

namespace lockstep::parallel {
namespace {

bool can_be_read(const comm::Buffer& bucket) {
  const bool is_wide = bucket.type == comm::ElementType::f32 || bucket.type == comm::ElementType::f64;
  return is_wide && bucket.place != comm::Place::device;
}

double square_norm(const comm::Buffer& bucket) {
  const auto type = bucket.type == comm::ElementType::f64 ? at::kDouble : at::kFloat;
  const at::Tensor flat = at::from_blob(bucket.data, {static_cast<std::int64_t>(bucket.count())}, type);
  return at::dot(flat, flat).item<double>();
}

}  // namespace

void SquareNorms::begin_step(std::int64_t step, double own_samples, double divisor) {
  looks_ = wanted_ && own_samples > 0 && step % kEvery == kFirst;
  if (!looks_) return;
  to_own_mean_ = divisor / own_samples;
  local_ = reduced_ = 0;
}

void SquareNorms::add_local(const comm::Buffer& bucket) {
  if (!looks_) return;
  looks_ = can_be_read(bucket);
  if (looks_) local_ += square_norm(bucket);
}

void SquareNorms::add_reduced(const comm::Buffer& bucket) {
  if (looks_) reduced_ += square_norm(bucket);
}

std::optional<record::SquareNorm> SquareNorms::last() const {
  if (!looks_) return std::nullopt;
  return record::SquareNorm{local_ * to_own_mean_ * to_own_mean_, reduced_};
}

}  // namespace lockstep::parallel
