// Figures of quality, summed over samples so that sums over parts, steps and ranks are exact or nearly so.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "lockstep/models/loss_kind.h"
#include "lockstep/record/catalogue_entry.h"

namespace lockstep::train {

struct Metrics {
  std::int64_t samples = 0;
  double loss_sum = 0;       // of the samples' losses
  std::int64_t correct = 0;  // classification: whose largest output is their label's
  double psnr_sum = 0;       // restoration: of the samples' PSNR, in dB
  record::Task task = record::Task::any;

  void add(const Metrics& other);
  // Means over the samples; nothing without samples, or where the task has no such figure.
  std::optional<double> loss() const;
  std::optional<double> accuracy() const;
  std::optional<double> psnr() const;
};

// Of one batch: `output` [count, ...], `target` labels [count] or values like the output. `loss_sum` is what
// the caller has already (the sum of the samples' losses).
Metrics metrics_of(record::Task task, const at::Tensor& output, const at::Tensor& target, double loss_sum);

// Adds up batch after batch. On a GPU the sums stay on it until they are asked for, so that no step waits.
class Tally {
 public:
  explicit Tally(record::Task task) : task_(task) { sum_.task = task; }
  // `loss`: a scalar; the sum of the samples' losses is `loss` times `divisor`. An undefined output: no
  // samples.
  void add(const at::Tensor& output, const at::Tensor& target, const at::Tensor& loss, double divisor);
  // Waits for the device.
  Metrics total() const;
  // Goes on from these.
  void restart(const Metrics& from);

 private:
  record::Task task_;
  Metrics sum_;  // of what was computed on the CPU
  at::Tensor
      device_;  // [4] f64, always the same memory: loss_sum, correct, psnr_sum, samples; undefined on the CPU
};

void to_json(nlohmann::json& json, const Metrics& metrics);
void from_json(const nlohmann::json& json, Metrics& metrics);

}  // namespace lockstep::train
