#include "lockstep/models/trainable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/record/catalogue_parts.h"
#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

TEST(Trainable, HeadTrainsTheLastLayerAlone) {
  const Model model = make_model("resnet18-cifar", {.width = 4});
  const TrainableReport report = set_trainable(model, parse_trainable("head"));
  EXPECT_EQ(report.trainable_layers, std::vector<std::string>{"fc"});
  EXPECT_EQ(report.trainable_parameters, 32 * 10 + 10);
  EXPECT_EQ(report.trainable_parameters + report.frozen_parameters, model.parameter_count());
}

TEST(Trainable, FrozenParametersGetNoGradientAndFrozenStatisticsStay) {
  const Model model = make_model("resnet18-cifar", {.width = 4});
  set_trainable(model, parse_trainable("head"));
  Runner runner;
  runner.backward(runner.forward(model.root(), make_batch(model, 2), {}).square().sum());
  for (const NamedTensor& parameter : model.parameters()) {
    EXPECT_EQ(parameter.tensor.grad().defined(), parameter.name.starts_with("fc.")) << parameter.name;
  }
  EXPECT_EQ(model.buffers()[2].tensor.item<std::int64_t>(), 0);
}

TEST(Trainable, LastCountsLayersWithParameters) {
  const Model model = make_model("lenet5");
  const TrainableReport report = set_trainable(model, parse_trainable("last:2"));
  EXPECT_EQ(report.trainable_layers, (std::vector<std::string>{"fc2", "fc3"}));
  EXPECT_EQ(report.frozen_layers, (std::vector<std::string>{"conv1", "conv2", "fc1"}));
}

TEST(Trainable, ShareTakesTheFewestLastLayersThatHoldIt) {
  const Model model = make_model("lenet5");  // fc3 850, fc2 10164, fc1 48120 of 61706
  EXPECT_EQ(set_trainable(model, parse_trainable("share:1%")).trainable_layers,
            std::vector<std::string>{"fc3"});
  EXPECT_EQ(set_trainable(model, parse_trainable("share:17.5%")).trainable_layers.size(), 2U);
  EXPECT_EQ(set_trainable(model, parse_trainable("share:50%")).trainable_layers.size(), 3U);
  EXPECT_EQ(set_trainable(model, parse_trainable("share:100%")).trainable_layers.size(), 5U);
}

TEST(Trainable, AllThawsWhatWasFrozen) {
  const Model model = make_model("lenet5");
  set_trainable(model, parse_trainable("head"));
  EXPECT_EQ(set_trainable(model, parse_trainable("all")).frozen_parameters, 0);
  for (const NamedTensor& parameter : model.parameters()) EXPECT_TRUE(parameter.tensor.requires_grad());
}

// Specs are refused by the catalogue's counts, without building anything.
TEST(Trainable, TheCatalogueCountsTheLayersThatAreBuilt) {
  for (const record::ModelParts& parts : record::model_parts()) {
    record::RunSpec spec;
    spec.model = parts.name;
    for (const std::int64_t depth : {0, 3}) {
      ModelOptions options = small_options(parts.name);
      if (depth > 0 && parts.layers_per_depth == 0) continue;
      if (depth > 0) spec.model_options = {{"depth", static_cast<double>(options.depth = depth)}};
      const Model model = make_model(parts.name, options);
      const auto layers = set_trainable(model, parse_trainable("all")).trainable_layers.size();
      EXPECT_EQ(static_cast<std::int64_t>(layers), record::layers_of(spec)) << parts.name << " " << depth;
      EXPECT_EQ(!model.head().empty(), parts.has_head) << parts.name;
      EXPECT_EQ(!model.buffers().empty(), parts.has_batch_norms) << parts.name;
    }
  }
}

TEST(Trainable, MoreLayersThanThereAreNameTheFieldAndTheMost) {
  try {
    set_trainable(make_model("lenet5"), parse_trainable("last:6"));
    FAIL() << "nothing was thrown";
  } catch (const base::ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("trainable 'last:6' is refused"));
    EXPECT_THAT(error.what(), testing::HasSubstr("trainable last:5."));
  }
}

TEST(Trainable, WhatCannotBeIsRefused) {
  for (const char* text :
       {"", "most", "last:", "last:0", "last:x", "share:50", "share:0%", "share:101%", "share:nan%"}) {
    EXPECT_THROW(parse_trainable(text), base::UsageError) << text;
  }
  EXPECT_THROW(set_trainable(make_model("lenet5"), parse_trainable("last:6")), base::ConfigError);
  EXPECT_THROW(set_trainable(make_model("restorer", small_options("restorer")), parse_trainable("head")),
               base::ConfigError);
}

}  // namespace
}  // namespace lockstep::models
