// Losses. A batch's loss is the sum of its samples' losses over a divisor that the caller gives. With the
// divisor equal to the samples of the global batch, the losses (and gradients) of all workers add up to those
// of the whole batch, however unevenly it was divided; where workers' gradients are averaged instead,
// multiply by the world size.
#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/models/loss_kind.h"

namespace lockstep::models {

// A scalar: sum over samples of the sample's loss, over the divisor. A sample's loss is its cross-entropy, or
// the mean of the squared errors of its values.
at::Tensor loss_of(LossKind kind, const at::Tensor& output, const at::Tensor& target, double divisor);

// The plain mean over the batch.
at::Tensor mean_loss(LossKind kind, const at::Tensor& output, const at::Tensor& target);

}  // namespace lockstep::models
