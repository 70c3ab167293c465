// What a model's outputs are judged by: loss, accuracy, PSNR. Sums are kept, never means, so that batches and
// ranks can be added; counts are whole numbers in doubles, exact up to 2^53.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

#include "lockstep/models/loss_kind.h"

namespace lockstep::train {

// Of any number of samples. What a kind of loss does not have stays 0 and is not reported.
struct Metrics {
  models::LossKind kind = models::LossKind::cross_entropy;
  double samples = 0;
  double loss_sum = 0;  // of the samples' losses
  double correct = 0;   // cross_entropy: samples whose largest output is that of their label
  double psnr_sum = 0;  // restore: of the images' PSNR in dB

  Metrics& operator+=(const Metrics& other);

  // Means over the samples; nothing without samples.
  std::optional<double> loss() const;
  std::optional<double> accuracy() const;
  std::optional<double> psnr() const;

  // What ranks add up: the same length on every rank, also on one that had no samples.
  static constexpr std::size_t kSums = 4;
  std::array<double, kSums> sums() const { return {samples, loss_sum, correct, psnr_sum}; }
  static Metrics from_sums(models::LossKind kind, const std::array<double, kSums>& sums);
};

// PSNR of an image with values from 0 to 1, 10 log10(1 / mse), is taken of an MSE of at least this: 100 dB at
// most.
inline constexpr double kSmallestMse = 1e-10;

// Adds up on the device, in f64, and waits for it only when asked for the total: no step is held up.
class MetricsTally {
 public:
  explicit MetricsTally(models::LossKind kind) : kind_(kind) {}

  // `loss_sum`: a scalar, the sum of these samples' losses (on the CPU or the device).
  // Output and target as in models::LossKind; no samples are fine.
  void add(const at::Tensor& output, const at::Tensor& target, const at::Tensor& loss_sum);
  // The same where the loss is not known yet (validation).
  void add(const at::Tensor& output, const at::Tensor& target);

  // Waits for the device.
  Metrics total() const;
  void clear();

 private:
  models::LossKind kind_;
  double samples_ = 0;
  at::Tensor sums_;  // [3] f64: loss_sum, correct, psnr_sum; undefined before the first samples
};

// Of one batch.
Metrics metrics_of(models::LossKind kind, const at::Tensor& output, const at::Tensor& target);

}  // namespace lockstep::train
