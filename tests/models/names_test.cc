// The names and shapes of torchvision's state_dicts, written as the rules that generate them, and compared in
// order.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

// "name shape" lines.
class Expected {
 public:
  Expected& tensor(const std::string& name, const std::string& shape) {
    lines_.push_back(name + " [" + shape + "]");
    return *this;
  }
  Expected& conv(const std::string& name, int in, int out, int kernel, bool bias) {
    tensor(name + ".weight", fmt::format("{}, {}, {}, {}", out, in, kernel, kernel));
    return bias ? tensor(name + ".bias", fmt::format("{}", out)) : *this;
  }
  Expected& linear(const std::string& name, int in, int out) {
    return tensor(name + ".weight", fmt::format("{}, {}", out, in))
        .tensor(name + ".bias", fmt::format("{}", out));
  }
  Expected& norm(const std::string& name, int channels) {
    for (const char* part : {"weight", "bias", "running_mean", "running_var"}) {
      tensor(name + "." + part, fmt::format("{}", channels));
    }
    return tensor(name + ".num_batches_tracked", "");
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

std::vector<std::string> lines_of(const char* model) {
  std::vector<std::string> lines;
  for (const NamedTensor& named : sketch_model(model, {}, {}).state()) {
    lines.push_back(fmt::format("{} [{}]", named.name, fmt::join(named.tensor.sizes(), ", ")));
  }
  return lines;
}

TEST(Names, AlexNetIsTorchvisions) {
  Expected state;
  state.conv("features.0", 3, 64, 11, true)
      .conv("features.3", 64, 192, 5, true)
      .conv("features.6", 192, 384, 3, true);
  state.conv("features.8", 384, 256, 3, true).conv("features.10", 256, 256, 3, true);
  state.linear("classifier.1", 9216, 4096)
      .linear("classifier.4", 4096, 4096)
      .linear("classifier.6", 4096, 1000);
  EXPECT_EQ(lines_of("alexnet"), state.lines());
}

TEST(Names, Vgg16IsTorchvisions) {
  const int numbers[] = {0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28};
  const int widths[] = {3, 64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512};
  Expected state;
  for (int i = 0; i < 13; ++i)
    state.conv(fmt::format("features.{}", numbers[i]), widths[i], widths[i + 1], 3, true);
  state.linear("classifier.0", 25088, 4096)
      .linear("classifier.3", 4096, 4096)
      .linear("classifier.6", 4096, 1000);
  EXPECT_EQ(lines_of("vgg16"), state.lines());
}

TEST(Names, SqueezeNetIsTorchvisions) {
  const int fires[][4] = {{3, 96, 16, 64},   {4, 128, 16, 64},  {5, 128, 32, 128},  {7, 256, 32, 128},
                          {8, 256, 48, 192}, {9, 384, 48, 192}, {10, 384, 64, 256}, {12, 512, 64, 256}};
  Expected state;
  state.conv("features.0", 3, 96, 7, true);
  for (const auto& [number, in, squeeze, expand] : fires) {
    const std::string fire = fmt::format("features.{}.", number);
    state.conv(fire + "squeeze", in, squeeze, 1, true).conv(fire + "expand1x1", squeeze, expand, 1, true);
    state.conv(fire + "expand3x3", squeeze, expand, 3, true);
  }
  EXPECT_EQ(lines_of("squeezenet1_0"), state.conv("classifier.1", 512, 1000, 1, true).lines());
}

void append_residual_body(Expected& state) {
  int in = 64;
  for (int stage = 1; stage <= 4; ++stage) {
    const int out = 32 << stage;
    for (int block = 0; block < 2; ++block) {
      const std::string path = fmt::format("layer{}.{}.", stage, block);
      state.conv(path + "conv1", block == 0 ? in : out, out, 3, false).norm(path + "bn1", out);
      state.conv(path + "conv2", out, out, 3, false).norm(path + "bn2", out);
      if (block == 0 && stage > 1) {
        state.conv(path + "downsample.0", in, out, 1, false).norm(path + "downsample.1", out);
      }
    }
    in = out;
  }
}

TEST(Names, ResNet18IsTorchvisions) {
  Expected state;
  state.conv("conv1", 3, 64, 7, false).norm("bn1", 64);
  append_residual_body(state);
  EXPECT_EQ(lines_of("resnet18"), state.linear("fc", 512, 1000).lines());
}

TEST(Names, ResNet18CifarDiffersOnlyInTheStemAndTheClasses) {
  Expected state;
  state.conv("conv1", 3, 64, 3, false).norm("bn1", 64);
  append_residual_body(state);
  EXPECT_EQ(lines_of("resnet18-cifar"), state.linear("fc", 512, 10).lines());
}

TEST(Names, DenseNet121IsTorchvisions) {
  const int layers[] = {6, 12, 24, 16};
  Expected state;
  state.conv("features.conv0", 3, 64, 7, false).norm("features.norm0", 64);
  int width = 64;
  for (int block = 1; block <= 4; ++block) {
    for (int layer = 1; layer <= layers[block - 1]; ++layer, width += 32) {
      const std::string path = fmt::format("features.denseblock{}.denselayer{}.", block, layer);
      state.norm(path + "norm1", width).conv(path + "conv1", width, 128, 1, false);
      state.norm(path + "norm2", 128).conv(path + "conv2", 128, 32, 3, false);
    }
    if (block == 4) break;
    const std::string path = fmt::format("features.transition{}.", block);
    state.norm(path + "norm", width).conv(path + "conv", width, width / 2, 1, false);
    width /= 2;
  }
  EXPECT_EQ(lines_of("densenet121"),
            state.norm("features.norm5", width).linear("classifier", width, 1000).lines());
}

TEST(Names, EachHeadOfTheVitHasMapsOfItsOwn) {
  Expected state;
  state.tensor("tokens.class_token", "1, 16").linear("tokens.map", 16, 16);
  for (int block = 0; block < 2; ++block) {
    const std::string path = fmt::format("blocks.{}.", block);
    state.tensor(path + "norm1.weight", "16").tensor(path + "norm1.bias", "16");
    for (const char* map : {"q", "k", "v"}) {
      for (int head = 0; head < 4; ++head)
        state.linear(fmt::format("{}attention.{}.{}", path, map, head), 4, 4);
    }
    state.tensor(path + "norm2.weight", "16").tensor(path + "norm2.bias", "16");
    state.linear(path + "mlp.0", 16, 64).linear(path + "mlp.2", 64, 16);
  }
  EXPECT_EQ(lines_of("vit"), state.linear("head", 16, 10).lines());
}

}  // namespace
}  // namespace lockstep::models
