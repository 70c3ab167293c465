// A user's TorchScript file as a model of one unit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/script.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/models/weights.h"
#include "tests/models/models_fixture.h"
#include "tests/models/temporary_directory.h"

namespace lockstep::models {
namespace {

std::string save_script(const TemporaryDirectory& directory, const std::string& forward) {
  torch::jit::Module module("user");
  module.register_parameter("weight", at::ones({3, 4}), false);
  module.register_buffer("scale", at::full({1}, 2.0));
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(forward);
  module.save(directory.file("user.pt"));
  return directory.file("user.pt");
}

TEST(ScriptModel, AUsersModuleTrainsAsOneUnit) {
  const TemporaryDirectory directory;
  const Model model = make_model(save_script(directory, R"(
def forward(self, x):
    return x.flatten(1).matmul(self.weight.t()) * self.scale
)"));
  EXPECT_TRUE(model.root().opaque());
  EXPECT_EQ(model.parameters()[0].name, "weight");
  EXPECT_EQ(model.buffers()[0].name, "scale");
  Runner runner;
  const at::Tensor output = runner.forward(model.root(), at::ones({2, 1, 2, 2}), {});
  EXPECT_TRUE(output.equal(at::full({2, 3}, 8.0F)));
  runner.backward(output.sum());
  EXPECT_TRUE(model.parameters()[0].tensor.grad().equal(at::full({3, 4}, 4.0F)));
}

std::string printed;  // by programs

TEST(ScriptModel, AsWeightsItIsRefusedWithTheWaysOutAndNothingOfItRuns) {
  const TemporaryDirectory directory;
  const std::string file = save_script(directory, R"(
def forward(self, x):
    return x
def __getstate__(self):
    return 3
def __setstate__(self, state: int):
    print("the program ran")
    self.weight = torch.ones([3, 4])
    self.scale = torch.ones([1])
    self.training = True
)");
  const auto before = torch::jit::getPrintHandler();
  torch::jit::setPrintHandler([](const std::string& text) { printed += text; });
  try {
    read_weights(file);
    ADD_FAILURE() << "it was read";
  } catch (const base::DataError& error) {
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("user.pt' is a TorchScript archive"),
                                 ::testing::HasSubstr("state_dict"), ::testing::HasSubstr("--model")));
  }
  EXPECT_EQ(printed, "");
  (void)make_model(file);  // as a model it is a program, and runs
  EXPECT_THAT(printed, ::testing::HasSubstr("the program ran"));
  torch::jit::setPrintHandler(before);
}

TEST(ScriptModel, WhatItCannotDoIsRefusedByName) {
  const TemporaryDirectory directory;
  const std::string two = save_script(directory, "def forward(self, x, y):\n    return x\n");
  EXPECT_THROW(make_model(two), base::ConfigError);
  EXPECT_THROW(make_model(two, {.width = 3}), base::ConfigError);
  const Model tuple = make_model(save_script(directory, "def forward(self, x):\n    return x, x\n"));
  Runner runner;
  EXPECT_THROW(runner.forward(tuple.root(), at::ones({1, 4}), {}), base::ConfigError);
}

TEST(ScriptModel, OneThatDoesNotTakeTheDataIsRefusedWithTheCauseAlone) {
  const TemporaryDirectory directory;
  const std::string file =
      save_script(directory, "def forward(self, x):\n    return x.flatten(1).matmul(self.weight.t())\n");
  try {
    (void)make_model(file, {.channels = 1, .image_height = 5, .image_width = 5});
    FAIL();
  } catch (const base::ConfigError& error) {
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("(1x5x5)"), ::testing::HasSubstr("shapes cannot be"),
                                 ::testing::Not(::testing::HasSubstr("Traceback"))));
  }
}

TEST(ScriptModel, AFileThatIsNoneIsRefused) {
  const TemporaryDirectory directory;
  std::ofstream(directory.file("text.pt")) << "not a module";
  EXPECT_THROW(make_model(directory.file("text.pt")), base::DataError);
  EXPECT_THROW(make_model(directory.file("missing.pt")), base::DataError);
}

}  // namespace
}  // namespace lockstep::models
