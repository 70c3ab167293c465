#include "lockstep/models/cost.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "lockstep/measure/torch/libtorch.h"
#include "lockstep/models/describe.h"
#include "lockstep/models/trainable.h"
#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

// Multiply-adds per image at 224 pixels, as published with torchvision's weights (billions).
TEST(Cost, FlopsAgreeWithThePublishedFigures) {
  const std::pair<const char*, double> published[] = {{"resnet18", 1.814},
                                                      {"vgg16", 15.470},
                                                      {"squeezenet1_0", 0.819},
                                                      {"densenet121", 2.834},
                                                      {"alexnet", 0.714}};
  for (const auto& [name, multiply_adds] : published) {
    const double flops = static_cast<double>(describe_model(name).costs.flops_per_sample);
    EXPECT_NEAR(flops / 2e9, multiply_adds, 0.025 * multiply_adds) << name;
  }
}

TEST(Cost, TrainingCostsAboutThreeTimesForward) {
  for (const char* name : {"resnet18", "vit", "vgg16", "pilotnet"}) {
    const ModelCosts costs = describe_model(name).costs;
    const double ratio =
        static_cast<double>(costs.training_flops_per_sample) / static_cast<double>(costs.flops_per_sample);
    EXPECT_GT(ratio, 2.5) << name;
    EXPECT_LE(ratio, 3.0) << name;
  }
}

TEST(Cost, AFrozenModelKeepsAndComputesLess) {
  const Model sketch = sketch_model("vgg16", {}, {});
  const ModelCosts all = costs_per_sample(sketch);
  set_trainable(sketch, parse_trainable("head"));
  const ModelCosts head = costs_per_sample(sketch);
  EXPECT_EQ(head.flops_per_sample, all.flops_per_sample);
  EXPECT_LT(head.training_flops_per_sample, all.training_flops_per_sample / 2);
  EXPECT_LT(head.activation_bytes_per_sample, all.activation_bytes_per_sample / 100);
}

// Counts the bytes that live, to compare the account with what forward really leaves behind.
class LiveBytes : public measure::HostAllocator {
 public:
  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  static std::int64_t live_bytes;

 private:
  static constexpr std::size_t kFront = 64;
  c10::DataPtr give(std::size_t bytes) override {
    auto* block =
        static_cast<std::size_t*>(std::aligned_alloc(kFront, (bytes + 2 * kFront - 1) / kFront * kFront));
    *block = bytes;
    live_bytes += static_cast<std::int64_t>(bytes);
    void* data = reinterpret_cast<char*>(block) + kFront;
    return {data, data, &release, at::Device(at::kCPU)};
  }
  static void release(void* data) {
    auto* block = reinterpret_cast<std::size_t*>(static_cast<char*>(data) - kFront);
    live_bytes -= static_cast<std::int64_t>(*block);
    std::free(block);
  }
};
std::int64_t LiveBytes::live_bytes = 0;

std::int64_t bytes_kept_by_forward(const Model& model, std::int64_t batch_rows) {
  const at::Tensor batch = make_batch(model, batch_rows);
  Runner runner;
  const std::int64_t before = LiveBytes::live_bytes;
  const at::Tensor output = runner.forward(model.root(), batch, {});
  return LiveBytes::live_bytes - before - static_cast<std::int64_t>(output.nbytes());
}

TEST(Cost, ActivationBytesAreWhatForwardKeeps) {
  static LiveBytes counting;
  c10::Allocator* before = c10::GetCPUAllocator();
  measure::install_host_allocator(counting);
  for (const char* name : {"lenet5", "vit", "resnet18-cifar", "densenet121", "squeezenet1_0", "alexnet",
                           "deepwide", "restorer"}) {
    const ModelOptions options = small_options(name);
    const ModelCosts costs = describe_model(name, options).costs;
    const Model model = make_model(name, options);
    const double expected =
        static_cast<double>(8 * costs.activation_bytes_per_sample + costs.activation_bytes_per_batch);
    EXPECT_NEAR(static_cast<double>(bytes_kept_by_forward(model, 8)) / expected, 1.0, 0.05) << name;
  }
  c10::SetCPUAllocator(before, 100);
}

TEST(Cost, TheDescriptionIsJson) {
  const nlohmann::json model = to_json(describe_model("vit"));
  EXPECT_EQ(model.at("name"), "vit");
  EXPECT_EQ(model.at("parameters"), 5322);
  EXPECT_EQ(model.at("image"), (nlohmann::json{1, 28, 28}));
  EXPECT_EQ(model.at("options").at("heads"), 4);
  EXPECT_GT(model.at("flops_per_sample"), 100'000);
}

}  // namespace
}  // namespace lockstep::models
