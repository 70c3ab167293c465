#include "lockstep/models/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "tests/models/models_fixture.h"
#include "tests/models/temporary_directory.h"

namespace lockstep::models {
namespace {

using testing::HasSubstr;

void expect_equal_state(const Model& one, const Model& other) {
  const auto state = one.state(), expected = other.state();
  ASSERT_EQ(state.size(), expected.size());
  for (std::size_t i = 0; i < state.size(); ++i)
    EXPECT_TRUE(state[i].tensor.equal(expected[i].tensor)) << state[i].name;
}

TEST(Weights, AModelsStateSurvivesTheFile) {
  const TemporaryDirectory directory;
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const Model saved = make_model("resnet18-cifar", {.width = 4}, type, 1);
    save_safetensors(directory.file("w.safetensors"), saved.state());
    const Model loaded = make_model("resnet18-cifar", {.width = 4}, type, 2);
    const LoadReport report = load_weights(loaded, read_weights(directory.file("w.safetensors")), "w");
    EXPECT_EQ(report.loaded.size(), saved.state().size());
    expect_equal_state(loaded, saved);
  }
}

TEST(Weights, ValuesAreSavedInTheirLogicalOrder) {
  const TemporaryDirectory directory;
  const at::Tensor turned = at::arange(6, at::kFloat).view({2, 3}).t();
  save_safetensors(directory.file("w"), {{"x", turned}});
  EXPECT_TRUE(read_safetensors(directory.file("w"))[0].tensor.equal(turned));
}

TEST(Weights, ATypeIsConvertedOnLoading) {
  const Model wide = make_model("lenet5", {}, at::kDouble, 1);
  const Model narrow = make_model("lenet5", {}, at::kFloat, 2);
  load_weights(narrow, wide.state(), "memory");
  EXPECT_TRUE(narrow.state()[0].tensor.equal(wide.state()[0].tensor.to(at::kFloat)));
}

TEST(Weights, AHeadForOtherClassesIsLeftAlone) {
  const Model many = make_model("lenet5", {.classes = 20}), few = make_model("lenet5", {}, at::kFloat, 2);
  const at::Tensor head = few.parameters().back().tensor.clone();
  const LoadReport report = load_weights(few, many.state(), "memory");
  EXPECT_EQ(report.left_alone, (std::vector<std::string>{"fc3.weight", "fc3.bias"}));
  EXPECT_TRUE(head.equal(few.parameters().back().tensor));
  EXPECT_TRUE(few.parameters()[0].tensor.equal(many.parameters()[0].tensor));
}

TEST(Weights, WhatDoesNotFitIsListedByName) {
  const Model model = make_model("lenet5");
  auto weights = make_model("lenet5", {.channels = 3}).state();
  weights[1].name = "stranger";
  const at::Tensor before = model.parameters()[2].tensor.clone();
  try {
    load_weights(model, weights, "file");
    FAIL() << "nothing was refused";
  } catch (const base::DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing: conv1.bias;"));
    EXPECT_THAT(error.what(), HasSubstr("unknown: stranger;"));
    EXPECT_THAT(error.what(), HasSubstr("other shape: conv1.weight."));
  }
  EXPECT_TRUE(before.equal(model.parameters()[2].tensor))
      << "nothing may be loaded from a file that does not fit";
}

TEST(Weights, ATruncatedFileIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("w.safetensors");
  save_safetensors(path, make_model("vit").state());
  const auto bytes = std::filesystem::file_size(path);
  for (const std::uintmax_t left :
       {bytes - 1, bytes / 2, std::uintmax_t{100}, std::uintmax_t{5}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(path, left);
    EXPECT_THROW(read_weights(path), base::DataError) << left;
  }
}

TEST(Weights, AMissingFileAndAnUnwritablePlaceAreErrors) {
  const TemporaryDirectory directory;
  EXPECT_THROW(read_weights(directory.file("nothing")), base::DataError);
  EXPECT_THROW(read_weights(directory.file("")), base::DataError);
  EXPECT_THROW(save_safetensors(directory.file("no/such/place"), make_model("vit").state()),
               base::StoreError);
}

}  // namespace
}  // namespace lockstep::models
