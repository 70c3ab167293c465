#include "lockstep/models/layers/sync_batch_norm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/models/runner.h"

namespace lockstep::models {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// Statistics travel and are combined in f64: counts stay exact, and sums of many samples lose nothing.
struct GlobalStatistics {
  at::Tensor mean;      // [channels], f64
  at::Tensor variance;  // [channels], f64, biased
  double count = 0.0;   // values a channel
};

double values_per_channel(const at::Tensor& input) {
  return static_cast<double>(input.size(0) * input.size(2) * input.size(3));
}

at::Tensor channel_sum(const at::Tensor& values) {
  return values.sum({0, 2, 3}, false, at::kDouble);
}

at::Tensor spread(const at::Tensor& per_channel, const at::Tensor& like) {  // [1, channels, 1, 1]
  return per_channel.to(like.scalar_type()).view({1, -1, 1, 1});
}

// [2 * channels + 1]: means, sums of squared deviations, and the count.
at::Tensor local_statistics(const at::Tensor& input) {
  const double count = values_per_channel(input);
  const at::Tensor mean =
      count > 0 ? channel_sum(input) / count : at::zeros({input.size(1)}, input.options().dtype(at::kDouble));
  const at::Tensor squares = channel_sum((input - spread(mean, input)).square());
  return at::cat({mean, squares, at::full({1}, count, mean.options())});
}

// Means and squares of parts into those of the whole: each part's squares, plus its count times its distance
// squared.
GlobalStatistics combine(const at::Tensor& parts, std::int64_t channels) {  // [world, 2 * channels + 1]
  const at::Tensor means = parts.narrow(1, 0, channels);
  const at::Tensor squares = parts.narrow(1, channels, channels);
  const at::Tensor counts = parts.narrow(1, 2 * channels, 1);
  GlobalStatistics statistics;
  statistics.count = counts.sum().item<double>();
  statistics.mean = (means * counts).sum(0) / statistics.count;
  statistics.variance = (squares + counts * (means - statistics.mean).square()).sum(0) / statistics.count;
  return statistics;
}

struct SyncNormalise : torch::autograd::Function<SyncNormalise> {
  static Variable forward(AutogradContext* context, const Variable& input, const Variable& weight,
                          const Variable& bias, const at::Tensor& mean, const at::Tensor& inverse,
                          double count, std::int64_t exchange) {
    context->save_for_backward({input, weight, mean, inverse});
    context->saved_data["count"] = count;
    context->saved_data["exchange"] = exchange;
    const at::Tensor scale = weight.to(at::kDouble) * inverse;
    return at::addcmul(spread(bias.to(at::kDouble) - mean * scale, input), input, spread(scale, input));
  }

  // With g the output's gradient, d the deviation from the mean and sums over the global batch:
  // gradient = weight * inverse * (g - sum(g)/n - d * inverse^2 * sum(g * d)/n)
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &weight = saved[1], &mean = saved[2], &inverse = saved[3];
    const at::Tensor& gradient = gradients[0];
    const at::Tensor deviation = input - spread(mean, input);
    const at::Tensor local =
        at::stack({channel_sum(gradient), channel_sum(gradient * deviation)});  // [2, channels]
    const auto address = static_cast<std::intptr_t>(context->saved_data.at("exchange").toInt());
    const at::Tensor total = reinterpret_cast<StatisticsExchange*>(address)->gather(local).sum(0);
    const double count = context->saved_data.at("count").toDouble();
    const at::Tensor slope = total[1] * inverse.square() / count;
    at::Tensor input_gradient =
        (gradient - spread(total[0] / count, input)).addcmul_(deviation, spread(slope, input), -1);
    input_gradient.mul_(spread(weight.to(at::kDouble) * inverse, input));
    return {input_gradient,
            (local[1] * inverse).to(weight.scalar_type()),
            local[0].to(weight.scalar_type()),
            Variable(),
            Variable(),
            Variable(),
            Variable()};
  }
};

}  // namespace

at::Tensor SyncBatchNorm2d::normalise(Runner& runner, const at::Tensor& input) {
  if (!uses_batch_statistics(runner)) return BatchNorm2d::normalise(runner, input);
  GlobalStatistics statistics;
  {
    const at::NoGradGuard no_grad;
    statistics = combine(exchange_.gather(local_statistics(input)), spec_.channels);
    if (updates_statistics(runner)) move_statistics(statistics.mean, statistics.variance, statistics.count);
  }
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&exchange_));
  return SyncNormalise::apply(input, weight_, bias_, statistics.mean,
                              (statistics.variance + spec_.epsilon).rsqrt(), statistics.count, address);
}

void SyncBatchNorm2d::move_statistics(const at::Tensor& mean, const at::Tensor& variance, double count) {
  count_batch();
  running_mean_.lerp_(mean.to(running_mean_.scalar_type()), spec_.momentum);
  running_var_.lerp_((variance * (count / (count - 1.0))).to(running_var_.scalar_type()), spec_.momentum);
}

}  // namespace lockstep::models
