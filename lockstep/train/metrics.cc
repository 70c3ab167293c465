#include "lockstep/train/metrics.h"

#include <ATen/ATen.h>

#include "lockstep/models/loss.h"

namespace lockstep::train {
namespace {

// Samples whose largest output is that of their label.
at::Tensor count_correct(const at::Tensor& output, const at::Tensor& target) {
  return output.argmax(1).eq(target.reshape({-1})).sum();
}

// The sum over images of their PSNR.
at::Tensor psnr_sum(const at::Tensor& output, const at::Tensor& target) {
  const at::Tensor error = output.sub(target.reshape(output.sizes())).to(at::kDouble);  // [batch, ...]
  const at::Tensor mse = error.square().flatten(1).mean(1).clamp_min(kSmallestMse);     // [batch]
  return mse.log10().mul(-10).sum();
}

at::Tensor as_f64(const at::Tensor& scalar, const at::Tensor& output) {
  return scalar.detach().to(output.device(), at::kDouble).reshape({});
}

std::optional<double> mean_of(double sum, double samples, bool known) {
  if (!known || samples == 0) return std::nullopt;
  return sum / samples;
}

}  // namespace

Metrics& Metrics::operator+=(const Metrics& other) {
  samples += other.samples;
  loss_sum += other.loss_sum;
  correct += other.correct;
  psnr_sum += other.psnr_sum;
  return *this;
}

std::optional<double> Metrics::loss() const {
  return mean_of(loss_sum, samples, true);
}

std::optional<double> Metrics::accuracy() const {
  return mean_of(correct, samples, kind == models::LossKind::cross_entropy);
}

std::optional<double> Metrics::psnr() const {
  return mean_of(psnr_sum, samples, kind == models::LossKind::restore);
}

Metrics Metrics::from_sums(models::LossKind kind, const std::array<double, kSums>& sums) {
  return {kind, sums[0], sums[1], sums[2], sums[3]};
}

void MetricsTally::add(const at::Tensor& output, const at::Tensor& target, const at::Tensor& loss_sum) {
  if (output.size(0) == 0) return;
  const at::NoGradGuard no_grad;
  const at::Tensor zero = at::zeros({}, output.options().dtype(at::kDouble));
  const at::Tensor correct = kind_ == models::LossKind::cross_entropy ? count_correct(output, target) : zero;
  const at::Tensor psnr = kind_ == models::LossKind::restore ? psnr_sum(output, target) : zero;
  const at::Tensor sums = at::stack({as_f64(loss_sum, output), as_f64(correct, output), psnr});
  sums_.defined() ? sums_.add_(sums) : sums_ = sums;
  samples_ += static_cast<double>(output.size(0));
}

void MetricsTally::add(const at::Tensor& output, const at::Tensor& target) {
  const at::NoGradGuard no_grad;
  if (output.size(0) > 0) add(output, target, models::loss_of(kind_, output, target, 1.0));
}

Metrics MetricsTally::total() const {
  if (!sums_.defined()) return Metrics{kind_};
  const at::Tensor sums = sums_.cpu();
  const double* at = sums.data_ptr<double>();
  return {kind_, samples_, at[0], at[1], at[2]};
}

void MetricsTally::clear() {
  samples_ = 0;
  sums_ = at::Tensor();
}

Metrics metrics_of(models::LossKind kind, const at::Tensor& output, const at::Tensor& target) {
  MetricsTally tally(kind);
  tally.add(output, target);
  return tally.total();
}

}  // namespace lockstep::train
