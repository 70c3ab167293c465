#include "lockstep/models/runner.h"

#include <gtest/gtest.h>

#include "lockstep/models/loss.h"
#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

// Writes down what it is told about the units it wants.
class Diary : public UnitHooks {
 public:
  explicit Diary(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  bool wants(const Unit& unit) const override {
    return std::find(paths_.begin(), paths_.end(), unit.path()) != paths_.end();
  }
  void before_forward(Unit& unit, const at::Tensor&) override { write("forward", unit); }
  void after_forward(Unit& unit, const at::Tensor&) override { write("forwarded", unit); }
  void before_backward(Unit& unit) override { write("backward", unit); }
  void after_backward(Unit& unit) override {
    write("backwarded", unit);
    for (const Parameter& parameter : unit.own_parameters())
      EXPECT_TRUE(parameter.value.grad().defined()) << unit.path();
  }

  std::vector<std::string> lines;

 private:
  void write(const char* what, const Unit& unit) { lines.push_back(std::string(what) + " " + unit.path()); }
  std::vector<std::string> paths_;
};

using Lines = std::vector<std::string>;

at::Tensor step(Runner& runner, const Model& model, const at::Tensor& batch, const PassKey& key = {}) {
  const at::Tensor output = runner.forward(model.root(), batch, key);
  const at::Tensor loss = output.square().sum();
  runner.backward(loss);
  return loss.detach();
}

TEST(Runner, HooksComeInOrderThroughForwardAndBackward) {
  const Model model = make_model("lenet5");
  Diary diary({"conv1", "conv2", "fc3"});
  Runner::attach(model.root(), diary);
  Runner runner;
  step(runner, model, make_batch(model, 2));
  // conv1 reads the data, which needs no gradient: that it is done is known at the end.
  EXPECT_EQ(diary.lines, (Lines{"forward conv1", "forwarded conv1", "forward conv2", "forwarded conv2",
                                "forward fc3", "forwarded fc3", "backward fc3", "backwarded fc3",
                                "backward conv2", "backwarded conv2", "backward conv1", "backwarded conv1"}));
}

TEST(Runner, HooksNestLikeTheUnits) {
  const Model model = make_model("resnet18-cifar", {.width = 4});
  Diary diary({"layer2.0", "layer2.0.bn2", "layer2.0.downsample"});
  Runner::attach(model.root(), diary);
  Runner runner;
  step(runner, model, make_batch(model, 2));
  EXPECT_EQ(diary.lines,
            (Lines{"forward layer2.0", "forward layer2.0.downsample", "forwarded layer2.0.downsample",
                   "forward layer2.0.bn2", "forwarded layer2.0.bn2", "forwarded layer2.0",
                   "backward layer2.0", "backward layer2.0.bn2", "backwarded layer2.0.bn2",
                   "backward layer2.0.downsample", "backwarded layer2.0.downsample", "backwarded layer2.0"}));
}

TEST(Runner, FrozenUnitsAndEvaluationHaveNoBackward) {
  const Model model = make_model("lenet5");
  for (Unit* unit : all_units(model.root())) unit->freeze(unit->path() != "fc3");
  Diary diary({"conv2", "fc3"});
  Runner::attach(model.root(), diary);
  Runner runner;
  step(runner, model, make_batch(model, 2));
  EXPECT_EQ(diary.lines, (Lines{"forward conv2", "forwarded conv2", "forward fc3", "forwarded fc3",
                                "backward fc3", "backwarded fc3"}));
}

TEST(Runner, HooksChangeNoResult) {
  for (const char* name : {"lenet5", "vit", "resnet18-cifar", "densenet121"}) {
    const ModelOptions options = small_options(name);
    const Model plain = make_model(name, options), watched = make_model(name, options);
    struct All : UnitHooks {
    } all;
    Runner::attach(watched.root(), all);
    Runner runner;
    const at::Tensor batch = make_batch(plain, 2);
    EXPECT_TRUE(step(runner, plain, batch).equal(step(runner, watched, batch))) << name;
    for (std::size_t i = 0; i < plain.parameters().size(); ++i) {
      EXPECT_TRUE(plain.parameters()[i].tensor.grad().equal(watched.parameters()[i].tensor.grad()))
          << plain.parameters()[i].name;
    }
  }
}

// Blocks whose activations are dropped must give the same bits, with dropout and batch norm in them.
void expect_recompute_changes_nothing(const char* name, const std::vector<std::string>& recomputed) {
  const ModelOptions options = small_options(name);
  const Model kept = make_model(name, options), again = make_model(name, options);
  for (Unit* unit : all_units(again.root())) {
    if (std::find(recomputed.begin(), recomputed.end(), unit->path()) != recomputed.end())
      unit->set_recompute(true);
  }
  Runner runner;
  const at::Tensor batch = make_batch(kept, 2);
  EXPECT_TRUE(step(runner, kept, batch, {.seed = 3}).equal(step(runner, again, batch, {.seed = 3}))) << name;
  for (std::size_t i = 0; i < kept.parameters().size(); ++i) {
    EXPECT_TRUE(kept.parameters()[i].tensor.grad().equal(again.parameters()[i].tensor.grad()))
        << kept.parameters()[i].name;
  }
  for (std::size_t i = 0; i < kept.buffers().size(); ++i) {
    EXPECT_TRUE(kept.buffers()[i].tensor.equal(again.buffers()[i].tensor)) << kept.buffers()[i].name;
  }
}

TEST(Runner, RecomputedUnitsGiveTheSameGradientsAndStatistics) {
  expect_recompute_changes_nothing("resnet18-cifar", {"conv1", "layer1.0", "layer2.1", "layer3"});
  expect_recompute_changes_nothing("alexnet", {"features", "classifier"});
  expect_recompute_changes_nothing("vit", {"blocks.0", "blocks.1"});
}

TEST(Runner, HooksInsideARecomputedUnitSeeItsSecondForward) {
  const Model model = make_model("resnet18-cifar", {.width = 4});
  for (Unit* unit : all_units(model.root())) unit->set_recompute(unit->path() == "layer2.0");
  Diary diary({"layer2.0.conv1"});
  Runner::attach(model.root(), diary);
  Runner runner;
  step(runner, model, make_batch(model, 2));
  EXPECT_EQ(diary.lines,
            (Lines{"forward layer2.0.conv1", "forwarded layer2.0.conv1", "forward layer2.0.conv1",
                   "forwarded layer2.0.conv1", "backward layer2.0.conv1", "backwarded layer2.0.conv1"}));
}

TEST(Runner, AnExceptionInAHookReachesTheCaller) {
  struct Angry : UnitHooks {
    void before_backward(Unit&) override { throw std::runtime_error("no"); }
  } angry;
  const Model model = make_model("lenet5");
  Runner::attach(model.root(), angry);
  Runner runner;
  EXPECT_THROW(step(runner, model, make_batch(model, 2)), std::exception);
}

TEST(Runner, EvaluationUsesAndKeepsTheRunningStatistics) {
  const Model model = make_model("resnet18-cifar", {.width = 4});
  Runner runner;
  const at::Tensor batch = make_batch(model, 4);
  runner.forward(model.root(), batch, {});
  const at::Tensor mean = model.buffers()[0].tensor.clone();
  EXPECT_GT(mean.abs().max().item<float>(), 0.0F);
  EXPECT_EQ(model.buffers()[2].tensor.item<std::int64_t>(), 1);
  const at::Tensor whole = runner.forward(model.root(), batch, {.training = false});
  const at::Tensor one = runner.forward(model.root(), batch.slice(0, 0, 1), {.training = false});
  EXPECT_LT((whole.slice(0, 0, 1) - one).abs().max().item<float>(), 1e-5F);
  EXPECT_TRUE(mean.equal(model.buffers()[0].tensor));
}

}  // namespace
}  // namespace lockstep::models
