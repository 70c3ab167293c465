// What a model is trained for.
#pragma once

#include <string_view>

namespace lockstep::models {

enum class LossKind {
  cross_entropy,  // output [batch, classes], target [batch] of class numbers
  mse,            // output and target [batch, values]
  restore,        // output and target images [batch, channels, height, width]: MSE, judged by PSNR
};

std::string_view name_of(LossKind kind);

}  // namespace lockstep::models
