#include "lockstep/record/catalogue_models.h"

#include <fmt/core.h>

#include <array>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::record {
namespace {

constexpr std::array<ModelOption, 3> kVitOptions = {{
    {"width", 16, 1, "width of a token; a multiple of heads"},
    {"depth", 2, 1, "blocks"},
    {"heads", 4, 1, "attention heads of a block"},
}};
constexpr std::array<ModelOption, 2> kDeepwideOptions = {{
    {"width", 64, 1, "channels of each layer"},
    {"depth", 8, 1, "layers"},
}};
constexpr std::array<ModelOption, 2> kRestorerOptions = {{
    {"width", 32, 1, "channels of each hidden layer"},
    {"depth", 8, 2, "convolutions"},
}};
constexpr std::array<ModelOption, 1> kResnetCifarOptions = {{
    {"width", 64, 1, "channels of the first stage"},
}};

constexpr ImageShape kAdapts = {};
constexpr auto kLabels = Task::classification;

constexpr std::array<ModelEntry, 11> kModels = {{
    {"lenet5", kLabels, 0, 12, 12, 1, kAdapts, {}, "LeNet-5 with ReLU and max-pooling, for quick runs"},
    {"vit", kLabels, 0, 4, 8, 4, kAdapts, kVitOptions,
     "a small vision transformer; 5,322 parameters on MNIST"},
    {"resnet18", kLabels, 3, 1, 1, 1, kAdapts, {}, "ResNet-18 as torchvision builds it"},
    {"resnet18-cifar", kLabels, 0, 1, 1, 1, kAdapts, kResnetCifarOptions,
     "ResNet-18 with a 3x3 stem and no max-pooling, for small images"},
    {"squeezenet1_0", kLabels, 3, 21, 21, 1, kAdapts, {}, "SqueezeNet 1.0 as torchvision builds it"},
    {"densenet121", kLabels, 3, 29, 32, 1, kAdapts, {}, "DenseNet-121 as torchvision builds it"},
    {"alexnet", kLabels, 3, 63, 64, 1, kAdapts, {}, "AlexNet as torchvision builds it"},
    {"vgg16", kLabels, 3, 32, 32, 1, kAdapts, {}, "VGG-16 as torchvision builds it"},
    {"pilotnet", Task::steering, 3, 66, 66, 1, {3, 66, 200}, {}, "NVIDIA's steering network"},
    {"deepwide", kLabels, 0, 1, 1, 1, kAdapts, kDeepwideOptions,
     "as deep and as wide as asked for: made to exhaust memory"},
    {"restorer", Task::restoration, 0, 1, 1, 1, kAdapts, kRestorerOptions,
     "a small residual network that removes noise, judged by PSNR"},
}};

constexpr ModelEntry kModelFile = {
    "a TorchScript file", Task::any, 0, 1, 1, 1, kAdapts, {}, "a user's TorchScript module (FILE.pt)"};

}  // namespace

std::string_view name_of(Task task) {
  switch (task) {
    case Task::classification:
      return "classification";
    case Task::steering:
      return "steering";
    case Task::restoration:
      return "restoration";
    case Task::any:
      break;
  }
  return "any";
}

std::span<const ModelEntry> model_entries() {
  return kModels;
}

bool is_model_file(std::string_view name) {
  return name.ends_with(".pt") || name.ends_with(".pth");
}

const ModelEntry& model_entry(std::string_view name) {
  if (is_model_file(name)) return kModelFile;
  if (const ModelEntry* entry = find_entry(model_entries(), name)) return *entry;
  const auto names = names_of(model_entries());
  throw base::ConfigError(fmt::format("there is no model '{}'.{} There are {}, or FILE.pt.", name,
                                      base::suggestion(name, names), base::join(names, ", ")));
}

}  // namespace lockstep::record
