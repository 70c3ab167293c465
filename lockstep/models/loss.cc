#include "lockstep/models/loss.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/models/layers/direct.h"

namespace lockstep::models {
namespace {

at::Tensor squared_error(const at::Tensor& output, const at::Tensor& target, double divisor) {
  const at::Tensor goal = target.reshape(output.sizes());
  const auto values = static_cast<double>(output.size(0) > 0 ? output.numel() / output.size(0) : 1);
  return at::mse_loss(output, goal, at::Reduction::Sum).div(values * divisor);
}

// Labels are checked here once, for the loops below do not.
void check_labels(const at::Tensor& labels, std::int64_t classes) {
  const std::int64_t* label = labels.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < labels.numel(); ++i) {
    if (label[i] >= 0 && label[i] < classes) continue;
    throw base::DataError(
        fmt::format("the label {} of sample {} of a batch is none of the model's {} classes; "
                    "use a model with as many outputs, or correct the data",
                    label[i], i, classes));
  }
}

// Calls work(the value of row i at its label) for every row.
template <class Work>
void at_labels(const at::Tensor& values, const at::Tensor& labels, const Work& work) {
  const std::int64_t rows = values.size(0), classes = values.size(1);
  const std::int64_t* label = labels.data_ptr<std::int64_t>();
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "at_labels", [&] {
    scalar_t* value = values.data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < rows; ++i) work(value[i * classes + label[i]]);
  });
}

// Cross-entropy in one node: the gradient is the softmax less one at the label.
struct CrossEntropyNode : Node {
  at::Tensor logarithms, labels;  // [rows, classes], [rows]
  double divisor = 1.0;

  variable_list apply(variable_list&& gradients) override {
    if (!gradients[0].defined()) return variable_list(1);
    at::Tensor gradient = logarithms.exp();
    at_labels(gradient, labels, [](auto& value) { value -= 1; });
    return {gradient.mul_(gradients[0].div(divisor))};
  }
  void release_variables() override { logarithms.reset(), labels.reset(); }
};

bool has_node(const at::Tensor& output, const at::Tensor& target) {
  const bool floats = output.scalar_type() == at::kFloat || output.scalar_type() == at::kDouble;
  return output.is_cpu() && floats && output.dim() == 2 && target.scalar_type() == at::kLong;
}

at::Tensor cross_entropy(const at::Tensor& output, const at::Tensor& target, double divisor) {
  if (!has_node(output, target)) {
    const bool narrow = output.scalar_type() == at::kBFloat16 || output.scalar_type() == at::kHalf;
    return at::cross_entropy_loss(narrow ? output.to(at::kFloat) : output, target, {}, at::Reduction::Sum)
        .div(divisor);
  }
  auto node = make_node<CrossEntropyNode>();
  at::Tensor loss;
  {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    node->labels = target.contiguous();
    node->divisor = divisor;
    node->logarithms = at::log_softmax(output, 1).contiguous();
    check_labels(node->labels, output.size(1));
    double sum = 0.0;
    at_labels(node->logarithms, node->labels, [&](auto value) { sum -= static_cast<double>(value); });
    loss = at::full({}, sum / divisor, output.options().requires_grad(false));
  }
  return needs_backward(output) ? with_history(node, loss, output) : loss;
}

}  // namespace

std::string_view name_of(LossKind kind) {
  switch (kind) {
    case LossKind::cross_entropy:
      return "cross_entropy";
    case LossKind::mse:
      return "mse";
    case LossKind::restore:
      return "restore";
  }
  return "unknown";
}

at::Tensor loss_of(LossKind kind, const at::Tensor& output, const at::Tensor& target, double divisor) {
  if (kind != LossKind::cross_entropy) return squared_error(output, target, divisor);
  return cross_entropy(output, target, divisor);
}

at::Tensor mean_loss(LossKind kind, const at::Tensor& output, const at::Tensor& target) {
  return loss_of(kind, output, target, static_cast<double>(output.size(0)));
}

}  // namespace lockstep::models
