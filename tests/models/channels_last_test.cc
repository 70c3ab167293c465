// Channels-last layout: the same numbers as the plain one.
#include <gtest/gtest.h>

#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

TEST(ChannelsLast, AModelGivesTheSameResultInEitherMemoryFormat) {
  StandardLayers plain(LayerOptions{}), last({.channels_last = true});
  for (const char* name : {"squeezenet1_0", "resnet18-cifar", "lenet5"}) {
    const Model one = build_model(name, small_options(name), plain, 1);
    const Model other = build_model(name, small_options(name), last, 1);
    Runner runner;
    const at::Tensor batch = make_batch(one, 2);
    const at::Tensor expected = runner.forward(one.root(), batch, {.training = false});
    const at::Tensor output = runner.forward(other.root(), batch, {.training = false});
    EXPECT_LT((output - expected).abs().max().item<double>(),
              1e-4 * (1.0 + expected.abs().max().item<double>()))
        << name;
  }
}

}  // namespace
}  // namespace lockstep::models
