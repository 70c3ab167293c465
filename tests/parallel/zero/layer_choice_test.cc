#include "lockstep/parallel/zero/layer_choice.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "lockstep/models/layers/standard_layers.h"
#include "lockstep/models/model.h"

namespace lockstep::parallel {
namespace {

models::Model make(const char* name, const models::ModelOptions& options = {}) {
  return models::build_model(name, options, *models::standard_layers({}), 1);
}

std::vector<std::string> paths_of(const std::vector<Layer>& layers) {
  std::vector<std::string> paths;
  for (const Layer& layer : layers) paths.push_back(layer.unit->path());
  return paths;
}

TEST(LayerChoice, EveryParameterIsInOneLayer) {
  for (const char* name : {"lenet5", "vit", "resnet18-cifar", "deepwide", "densenet121"}) {
    const models::Model model = make(name);
    std::set<std::string> names;
    std::size_t count = 0;
    for (const Layer& layer : choose_layers(model.root())) {
      EXPECT_EQ(layer.slots.size(), layer.parameters.size());
      for (const models::NamedTensor& named : layer.parameters) names.insert(named.name), ++count;
    }
    EXPECT_EQ(count, model.parameters().size()) << name;
    for (const models::NamedTensor& named : model.parameters())
      EXPECT_TRUE(names.count(named.name)) << named.name;
  }
}

TEST(LayerChoice, LargeUnitsAreCutAndSmallOnesAreNot) {
  const models::Model deep = make("deepwide", {.width = 64, .depth = 3});
  EXPECT_EQ(paths_of(choose_layers(deep.root())),
            (std::vector<std::string>{"layers.0", "layers.1", "layers.2", "head"}));
  const models::Model vit = make("vit");
  EXPECT_EQ(paths_of(choose_layers(vit.root())), (std::vector<std::string>{"tokens", "blocks", "head"}));
}

TEST(LayerChoice, FrozenParametersHaveLayersOfTheirOwn) {
  const models::Model vit = make("vit");
  for (models::Unit* unit : models::all_units(vit.root()))
    unit->freeze(!unit->path().starts_with("blocks.1"));
  const std::vector<Layer> layers = choose_layers(vit.root());
  EXPECT_EQ(paths_of(layers), (std::vector<std::string>{"tokens", "blocks", "blocks", "head"}));
  for (const Layer& layer : layers) {
    for (const models::NamedTensor& named : layer.parameters)
      EXPECT_EQ(named.tensor.requires_grad(), layer.trained) << named.name;
  }
}

}  // namespace
}  // namespace lockstep::parallel
