#include "lockstep/models/recompute.h"

#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/models/runner.h"
#include "lockstep/record/catalogue_parts.h"
#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

at::Tensor step(Runner& runner, const Model& model, const at::Tensor& batch) {
  const at::Tensor loss = runner.forward(model.root(), batch, {.seed = 3}).square().sum();
  runner.backward(loss);
  return loss.detach();
}

// Chains of layers (deepwide, restorer), blocks (a ResNet, squeezenet1_0, vit) and both.
TEST(Recompute, ChangesNoBitOfGradientsAndStatistics) {
  for (const char* name : {"deepwide", "restorer", "squeezenet1_0", "resnet18-cifar", "vit", "densenet121"}) {
    const ModelOptions options = small_options(name);
    Model kept = make_model(name, options), again = make_model(name, options);
    EXPECT_GT(recompute_activations(again), 1u) << name;
    Runner runner;
    const at::Tensor batch = make_batch(kept, 2);
    EXPECT_TRUE(step(runner, kept, batch).equal(step(runner, again, batch))) << name;
    for (std::size_t i = 0; i < kept.parameters().size(); ++i)
      EXPECT_TRUE(kept.parameters()[i].tensor.grad().equal(again.parameters()[i].tensor.grad()))
          << name << " " << kept.parameters()[i].name;
    for (std::size_t i = 0; i < kept.buffers().size(); ++i)
      EXPECT_TRUE(kept.buffers()[i].tensor.equal(again.buffers()[i].tensor)) << kept.buffers()[i].name;
  }
}

TEST(Recompute, LeavesNamesAlone) {
  Model model = make_model("deepwide");
  std::vector<std::string> before, after;
  for (const NamedTensor& named : model.state()) before.push_back(named.name);
  recompute_activations(model);
  for (const NamedTensor& named : model.state()) after.push_back(named.name);
  EXPECT_EQ(before, after);
}

// Specs are refused by what the catalogue says, without building anything.
TEST(Recompute, TheCatalogueSaysWhatCanBeDropped) {
  using record::Groups;
  for (const record::ModelParts& parts : record::model_parts()) {
    for (const std::int64_t depth : {2, 3}) {
      if (depth == 3 && parts.layers_per_depth == 0) continue;
      ModelOptions options = small_options(parts.name);
      if (parts.layers_per_depth > 0) options.depth = depth;
      Model model = make_model(parts.name, options);
      if (parts.groups == Groups::blocks || (parts.groups == Groups::chain && depth == 3))
        EXPECT_NO_THROW(recompute_activations(model)) << parts.name << " " << depth;
      else
        EXPECT_THROW(recompute_activations(model), base::ConfigError) << parts.name << " " << depth;
    }
  }
}

TEST(Recompute, RefusesAModelWithoutBlocksByName) {
  Model model = make_model("lenet5");
  EXPECT_THROW(recompute_activations(model), base::ConfigError);
}

}  // namespace
}  // namespace lockstep::models
