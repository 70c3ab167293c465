#include "lockstep/models/registry.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "lockstep/base/error.h"
#include "lockstep/models/describe.h"
#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

using testing::HasSubstr;

template <class Error, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Registry, EveryModelHasThePublishedNumberOfParameters) {
  const std::map<std::string_view, std::int64_t> expected = {{"resnet18", 11'689'512},
                                                             {"vgg16", 138'357'544},
                                                             {"squeezenet1_0", 1'248'424},
                                                             {"densenet121", 7'978'856},
                                                             {"alexnet", 61'100'840},
                                                             {"resnet18-cifar", 11'173'962},
                                                             {"vit", 5'322},
                                                             {"pilotnet", 252'219},
                                                             {"deepwide", 259'786},
                                                             {"restorer", 57'251},
                                                             {"lenet5", 61'706}};
  ASSERT_EQ(model_entries().size(), expected.size());
  for (const ModelEntry* entry : model_entries()) {
    EXPECT_EQ(describe_model(entry->name).parameters, expected.at(entry->name)) << entry->name;
  }
}

TEST(Registry, EveryModelMakesItsOutputAndAGradientForEveryParameter) {
  for (const ModelEntry* entry : model_entries()) {
    const Model model = make_model(entry->name, small_options(entry->name));
    Runner runner;
    const at::Tensor batch = make_batch(model, 2);
    const at::Tensor output = runner.forward(model.root(), batch, {});
    const bool restores = entry->loss == LossKind::restore;
    const std::int64_t values = entry->loss == LossKind::mse ? 1 : model.options().classes;
    EXPECT_EQ(output.sizes(), restores ? batch.sizes() : at::IntArrayRef({2, values})) << entry->name;
    EXPECT_TRUE(output.isfinite().all().item<bool>()) << entry->name;
    runner.backward(output.square().sum());
    for (const NamedTensor& parameter : model.parameters()) {
      ASSERT_TRUE(parameter.tensor.grad().defined()) << entry->name << " " << parameter.name;
      EXPECT_TRUE(parameter.tensor.grad().isfinite().all().item<bool>())
          << entry->name << " " << parameter.name;
    }
  }
}

TEST(Registry, ClassesChannelsAndImageSizesAdapt) {
  ModelOptions options{.classes = 7, .channels = 3, .image_height = 40, .image_width = 36};
  for (const char* name :
       {"lenet5", "vit", "resnet18-cifar", "deepwide", "resnet18", "squeezenet1_0", "vgg16", "densenet121"}) {
    const Model model = make_model(name, options);
    Runner runner;
    EXPECT_EQ(runner.forward(model.root(), make_batch(model, 2), {.training = false}).sizes(),
              at::IntArrayRef({2, 7}))
        << name;
  }
}

TEST(Registry, TheSmallestImageWorksAndOneSmallerIsRefusedByName) {
  for (const ModelEntry* entry : model_entries()) {
    ModelOptions options;
    options.image_height = options.image_width = entry->limits.smallest_image;
    EXPECT_NO_THROW(describe_model(entry->name, options)) << entry->name;
    if (entry->limits.smallest_image == 1) continue;
    options.image_height -= entry->limits.side_multiple;
    if (options.image_height == 0) continue;
    EXPECT_THAT(message_of<base::ConfigError>([&] { describe_model(entry->name, options); }),
                HasSubstr("'" + std::string(entry->name) + "'"));
  }
}

TEST(Registry, WhatAnArchitectureDoesNotAllowIsRefusedByName) {
  const auto refusal = [](const char* name, const ModelOptions& options) {
    return message_of<base::ConfigError>([&] { sketch_model(name, options, {}); });
  };
  EXPECT_THAT(refusal("vgg16", {.channels = 1}), HasSubstr("'vgg16' takes 3 channels, not 1"));
  EXPECT_THAT(refusal("vgg16", {.image_height = 28, .image_width = 28}), HasSubstr("--image-size 32"));
  EXPECT_THAT(refusal("alexnet", {.image_height = 62, .image_width = 64}), HasSubstr("--image-size 64"));
  EXPECT_THAT(refusal("alexnet", {.width = 3}), HasSubstr("'alexnet' has no option width"));
  EXPECT_THAT(refusal("pilotnet", {.classes = 3}), HasSubstr("'pilotnet' has no option classes"));
  EXPECT_THAT(refusal("vit", {.image_height = 30}), HasSubstr("multiples of 4"));
  EXPECT_THAT(refusal("vit", {.width = 18}), HasSubstr("does not divide by heads"));
  EXPECT_THAT(refusal("restorer", {.depth = 1}), HasSubstr("--depth 2"));
  EXPECT_THAT(refusal("lenet5", {.classes = -1}), HasSubstr("classes"));
}

TEST(Registry, AMisspeltModelGetsASuggestion) {
  EXPECT_THAT(message_of<base::UsageError>([] { model_entry("resnet81"); }), HasSubstr("resnet18"));
}

TEST(Registry, TheSameSeedGivesTheSameWeightsWhateverTheThreads) {
  const auto weights = [](int threads, std::uint64_t seed) {
    at::set_num_threads(threads);
    return make_model("resnet18-cifar", {.width = 8}, at::kFloat, seed).parameters();
  };
  const auto one = weights(1, 5), two = weights(2, 5), other = weights(1, 6);
  at::set_num_threads(1);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].tensor.equal(two[i].tensor)) << one[i].name;
  EXPECT_FALSE(one[0].tensor.equal(other[0].tensor));
}

TEST(Registry, WeightsFollowTorchvisionsDistributions) {
  const Model squeezenet = make_model("squeezenet1_0", {.classes = 10});
  for (const NamedTensor& parameter : squeezenet.parameters()) {
    const bool is_bias = parameter.name.ends_with("bias");
    EXPECT_EQ(parameter.tensor.abs().max().item<float>() == 0.0F, is_bias) << parameter.name;
  }
  const Model resnet = make_model("resnet18");
  const at::Tensor conv = resnet.parameters()[0].tensor;  // fan-out 64 * 49
  EXPECT_NEAR(conv.std().item<double>(), std::sqrt(2.0 / (64 * 49)), 0.0005);
  EXPECT_NEAR(conv.mean().item<double>(), 0.0, 0.001);
  const Model lenet = make_model("lenet5");
  const at::Tensor fc1 = lenet.parameters()[4].tensor;  // uniform, fan-in 400
  EXPECT_NEAR(fc1.abs().max().item<double>(), 0.05, 0.0001);
  EXPECT_LE(fc1.abs().max().item<double>(), 0.05);
  EXPECT_NEAR(fc1.std().item<double>(), 0.05 / std::sqrt(3.0), 0.0005);
}

TEST(Registry, ParametersHaveTheAskedType) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const Model model = make_model("vit", {}, type);
    for (const NamedTensor& parameter : model.parameters())
      EXPECT_EQ(parameter.tensor.scalar_type(), type) << parameter.name;
  }
}

TEST(Registry, AForwardInF64GivesTheSameBitsTwice) {
  for (const char* name : {"lenet5", "vit", "squeezenet1_0"}) {
    const Model model = make_model(name, small_options(name), at::kDouble);
    const at::Tensor batch = make_batch(model, 3, at::kDouble);
    Runner runner;
    const at::Tensor one = runner.forward(model.root(), batch, {.seed = 3, .step = 4});
    EXPECT_TRUE(one.equal(runner.forward(model.root(), batch, {.seed = 3, .step = 4}))) << name;
  }
}

}  // namespace
}  // namespace lockstep::models
