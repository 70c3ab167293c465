#include "lockstep/train/metrics.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep::train {
namespace {

using record::Task;

// Small outputs on the CPU: a plain loop costs less than the calls of three tensor operations.
template <class Value>
std::int64_t count_correct(const at::Tensor& output, const at::Tensor& labels) {
  const auto* scores = output.data_ptr<Value>();
  const auto* wanted = labels.data_ptr<std::int64_t>();
  const std::int64_t classes = output.size(1);
  std::int64_t correct = 0;
  for (std::int64_t row = 0; row < output.size(0); ++row) {
    const Value* first = scores + row * classes;
    correct += std::max_element(first, first + classes) - first == wanted[row];
  }
  return correct;
}

bool plain(const at::Tensor& output, at::ScalarType type) {
  return output.is_cpu() && output.is_contiguous() && output.scalar_type() == type;
}

std::int64_t correct_of(const at::Tensor& output, const at::Tensor& labels) {
  if (plain(output, at::kFloat)) return count_correct<float>(output, labels);
  if (plain(output, at::kDouble)) return count_correct<double>(output, labels);
  return output.argmax(1).eq(labels).sum().item<std::int64_t>();
}

// Of intensities in [0, 1]: 10 log10(1 / mean squared error) of each image.
at::Tensor psnr_of(const at::Tensor& output, const at::Tensor& target) {
  const at::Tensor errors = (output.to(at::kDouble) - target.to(at::kDouble)).square().flatten(1).mean(1);
  return errors.clamp_min(1e-12).log10().mul(-10).sum();
}

std::optional<double> mean(double sum, std::int64_t samples) {
  return samples > 0 ? std::optional(sum / static_cast<double>(samples)) : std::nullopt;
}

}  // namespace

void Metrics::add(const Metrics& other) {
  samples += other.samples;
  loss_sum += other.loss_sum;
  correct += other.correct;
  psnr_sum += other.psnr_sum;
  if (other.task != Task::any) task = other.task;
}

std::optional<double> Metrics::loss() const {
  return mean(loss_sum, samples);
}

std::optional<double> Metrics::accuracy() const {
  return task == Task::classification ? mean(static_cast<double>(correct), samples) : std::nullopt;
}

std::optional<double> Metrics::psnr() const {
  return task == Task::restoration ? mean(psnr_sum, samples) : std::nullopt;
}

Metrics metrics_of(Task task, const at::Tensor& output, const at::Tensor& target, double loss_sum) {
  const at::NoGradGuard no_grad;
  Metrics metrics;
  metrics.task = task;
  if (!output.defined() || output.size(0) == 0) return metrics;
  metrics.samples = output.size(0);
  metrics.loss_sum = loss_sum;
  if (task == Task::classification) metrics.correct = correct_of(output, target);
  if (task == Task::restoration) metrics.psnr_sum = psnr_of(output, target).item<double>();
  return metrics;
}

void Tally::add(const at::Tensor& output, const at::Tensor& target, const at::Tensor& loss, double divisor) {
  if (!output.defined() || output.size(0) == 0) return;
  if (!output.is_cuda()) {
    sum_.add(metrics_of(task_, output, target, loss.item<double>() * divisor));
    return;
  }
  const at::NoGradGuard no_grad;
  const at::Tensor zero = at::zeros({}, output.options().dtype(at::kDouble));
  const at::Tensor correct =
      task_ == Task::classification ? output.argmax(1).eq(target).sum().to(at::kDouble) : zero;
  const at::Tensor psnr = task_ == Task::restoration ? psnr_of(output, target) : zero;
  const at::Tensor samples = at::full({}, static_cast<double>(output.size(0)), zero.options());
  if (!device_.defined()) device_ = at::zeros({4}, zero.options());
  device_.add_(at::stack({loss.to(at::kDouble) * divisor, correct, psnr, samples}));
}

Metrics Tally::total() const {
  Metrics total = sum_;
  if (!device_.defined()) return total;
  const at::Tensor sums = device_.cpu();
  const double* values = sums.data_ptr<double>();
  total.loss_sum += values[0];
  total.correct += static_cast<std::int64_t>(values[1]);
  total.psnr_sum += values[2];
  total.samples += static_cast<std::int64_t>(values[3]);
  return total;
}

void Tally::restart(const Metrics& from) {
  sum_ = from;
  sum_.task = task_;
  if (device_.defined()) device_.zero_();
}

void to_json(nlohmann::json& json, const Metrics& metrics) {
  json = {{"samples", metrics.samples},
          {"loss_sum", metrics.loss_sum},
          {"correct", metrics.correct},
          {"psnr_sum", metrics.psnr_sum},
          {"task", static_cast<int>(metrics.task)}};
}

void from_json(const nlohmann::json& json, Metrics& metrics) {
  json.at("samples").get_to(metrics.samples);
  json.at("loss_sum").get_to(metrics.loss_sum);
  json.at("correct").get_to(metrics.correct);
  json.at("psnr_sum").get_to(metrics.psnr_sum);
  metrics.task = static_cast<Task>(json.at("task").get<int>());
}

}  // namespace lockstep::train
