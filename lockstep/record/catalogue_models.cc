#include "lockstep/record/catalogue_models.h"

#include <fmt/core.h>

#include <array>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::record {
namespace {

constexpr std::array<ModelOption, 4> kVitOptions = {{
    {"width", 16, 1, "width of a token; a multiple of heads"},
    {"depth", 2, 1, "blocks"},
    {"heads", 4, 1, "attention heads of a block"},
    {"patch", 4, 1, "side of a patch in pixels; the image must be a multiple of it"},
}};
constexpr std::array<ModelOption, 2> kDeepwideOptions = {{
    {"depth", 8, 1, "layers"},
    {"width", 256, 1, "channels of each layer"},
}};
constexpr std::array<ModelOption, 2> kRestorerOptions = {{
    {"depth", 6, 2, "convolutions"},
    {"width", 32, 1, "channels of each hidden layer"},
}};
constexpr std::array<ModelOption, 1> kResnetCifarOptions = {{
    {"width", 64, 1, "channels of the first stage"},
}};

constexpr ImageShape kAdapts = {};
constexpr auto kLabels = Task::classification;

constexpr std::array<ModelEntry, 11> kModels = {{
    {"lenet5", kLabels, 0, 28, kAdapts, {}, "LeNet-5 with ReLU and max-pooling, for quick runs"},
    {"vit", kLabels, 0, 4, kAdapts, kVitOptions, "a small vision transformer; 5,322 parameters on MNIST"},
    {"resnet18", kLabels, 3, 32, kAdapts, {}, "ResNet-18 as torchvision builds it"},
    {"resnet18-cifar", kLabels, 0, 8, kAdapts, kResnetCifarOptions,
     "ResNet-18 with a 3x3 stem and no max-pooling, for small images"},
    {"squeezenet1_0", kLabels, 3, 32, kAdapts, {}, "SqueezeNet 1.0 as torchvision builds it"},
    {"densenet121", kLabels, 3, 32, kAdapts, {}, "DenseNet-121 as torchvision builds it"},
    {"alexnet", kLabels, 3, 64, kAdapts, {}, "AlexNet as torchvision builds it"},
    {"vgg16", kLabels, 3, 32, kAdapts, {}, "VGG-16 as torchvision builds it"},
    {"pilotnet", Task::steering, 3, 66, {3, 66, 200}, {}, "NVIDIA's steering network"},
    {"deepwide", kLabels, 0, 8, kAdapts, kDeepwideOptions,
     "as deep and as wide as asked for: made to exhaust memory"},
    {"restorer", Task::restoration, 0, 16, kAdapts, kRestorerOptions,
     "a small residual network that removes noise, judged by PSNR"},
}};

constexpr ModelEntry kModelFile = {
    "a TorchScript file", Task::any, 0, 1, kAdapts, {}, "a user's TorchScript module (FILE.pt)"};

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
