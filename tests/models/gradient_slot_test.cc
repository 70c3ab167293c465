#include "lockstep/models/gradient_slot.h"

#include <gtest/gtest.h>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include "lockstep/models/loss.h"
#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

using Slots = std::vector<std::shared_ptr<GradientSlot>>;

// Every direct slot gets a place full of what must not survive.
Slots give_slots(const Model& model) {
  Slots slots = gradient_slots_of(model.root());
  const auto parameters = model.parameters();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i]->direct()) slots[i]->view = at::full_like(parameters[i].tensor.detach(), 77.0);
  }
  return slots;
}

void pass(const Model& model, std::int64_t batch, at::ScalarType type) {
  Runner runner;
  const at::Tensor output = runner.forward(model.root(), make_batch(model, batch, type), {.seed = 4});
  runner.backward(output.square().mean());
}

// A gradient, wherever it went.
at::Tensor gradient_of(const Model& model, const Slots& slots, std::size_t i) {
  return slots[i]->direct() ? slots[i]->view : model.parameters()[i].tensor.grad();
}

double distance(const at::Tensor& one, const at::Tensor& other) {
  const double scale = other.abs().max().item<double>();
  return (one - other).abs().max().item<double>() / (scale > 0 ? scale : 1.0);
}

void expect_equal_gradients(const char* name, std::int64_t batch, std::int64_t passes, at::ScalarType type) {
  const Model plain = make_model(name, small_options(name), type);
  const Model direct = make_model(name, small_options(name), type);
  const Slots slots = give_slots(direct);
  for (std::int64_t i = 0; i < passes; ++i) pass(plain, batch, type), pass(direct, batch, type);
  const double most = type == at::kDouble ? 1e-12 : 1e-5;
  const auto parameters = plain.parameters();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_LE(distance(gradient_of(direct, slots, i), parameters[i].tensor.grad()), most)
        << name << " " << parameters[i].name << " batch " << batch;
    EXPECT_NE(slots[i]->direct(), direct.parameters()[i].tensor.grad().defined()) << parameters[i].name;
  }
}

TEST(GradientSlots, DirectGradientsEqualThoseOfAutograd) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (const char* name : {"lenet5", "vit", "alexnet", "resnet18-cifar"})
      expect_equal_gradients(name, 3, 1, type);
  }
}

TEST(GradientSlots, ASecondPassAccumulates) {
  expect_equal_gradients("lenet5", 5, 2, at::kDouble);
  expect_equal_gradients("vit", 5, 2, at::kFloat);
  expect_equal_gradients("alexnet", 2, 2, at::kFloat);
}

TEST(GradientSlots, AFreshSlotIsOverwritten) {
  const Model model = make_model("lenet5");
  const Slots slots = give_slots(model);
  pass(model, 4, at::kFloat);
  const at::Tensor first = slots.back()->view.clone();
  for (const auto& slot : slots) slot->fresh = true;
  pass(model, 4, at::kFloat);
  EXPECT_TRUE(first.equal(slots.back()->view));
}

TEST(GradientSlots, TheCallbackAndTheAccumulatorsHookComeAfterTheGradientIsWritten) {
  const Model model = make_model("lenet5");
  const Slots slots = give_slots(model);
  const at::Tensor head = model.parameters()[8].tensor;  // fc3.weight
  int calls = 0, hooks = 0;
  slots[8]->on_written = [&] {
    ++calls;
    EXPECT_FALSE(slots[8]->fresh);
    EXPECT_LT(slots[8]->view.abs().max().item<float>(), 77.0F);
  };
  const auto accumulator = torch::autograd::impl::grad_accumulator(head);
  struct Hook : torch::autograd::FunctionPostHook {
    Hook(int& fired, const int& written) : fired_(fired), written_(written) {}
    torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                              const torch::autograd::variable_list&) override {
      ++fired_;
      EXPECT_EQ(written_, 1);
      return outputs;
    }
    int& fired_;
    const int& written_;
  };
  accumulator->add_post_hook(std::make_unique<Hook>(hooks, calls));
  pass(model, 4, at::kFloat);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(hooks, 1);
}

TEST(GradientSlots, FrozenLayersWriteNothing) {
  const Model model = make_model("lenet5");
  const Slots slots = give_slots(model);
  for (Unit* unit : all_units(model.root())) unit->freeze(unit->path() != "fc3");
  pass(model, 4, at::kFloat);
  for (std::size_t i = 0; i < slots.size(); ++i)
    EXPECT_EQ(slots[i]->fresh, i < 8) << model.parameters()[i].name;
}

TEST(GradientSlots, RecomputedUnitsWriteTheSameBits) {
  const Model kept = make_model("alexnet", small_options("alexnet"));
  const Model again = make_model("alexnet", small_options("alexnet"));
  for (Unit* unit : all_units(again.root())) unit->set_recompute(unit->path() == "classifier");
  const Slots kept_slots = give_slots(kept), again_slots = give_slots(again);
  pass(kept, 3, at::kFloat), pass(again, 3, at::kFloat);
  for (std::size_t i = 0; i < kept_slots.size(); ++i) {
    EXPECT_TRUE(gradient_of(kept, kept_slots, i).equal(gradient_of(again, again_slots, i)))
        << kept.parameters()[i].name;
  }
}

TEST(GradientSlots, RemovedSlotsGiveWayToGrad) {
  const Model model = make_model("lenet5");
  give_slots(model);
  remove_gradient_slots(model.root());
  pass(model, 2, at::kFloat);
  for (const NamedTensor& parameter : model.parameters()) EXPECT_TRUE(parameter.tensor.grad().defined());
}

TEST(GradientSlots, AnEmptyBatchGivesZeros) {
  const Model model = make_model("lenet5");
  const Slots slots = give_slots(model);
  Runner runner;
  const at::Tensor output = runner.forward(model.root(), make_batch(model, 0), {});
  runner.backward(output.sum());
  for (const auto& slot : slots) {
    if (!slot->direct()) continue;
    EXPECT_EQ(slot->view.abs().max().item<float>(), 0.0F);
  }
}

}  // namespace
}  // namespace lockstep::models
