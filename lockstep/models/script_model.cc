// A user's TorchScript module as a model of one unit. Its inside cannot be seen: what needs more than
// forward, backward and the tensors by name refuses it by name.
#include <fmt/format.h>
#include <torch/script.h>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/models/model.h"
#include "lockstep/models/runner.h"

namespace lockstep::models {
namespace {

class ScriptUnit : public Unit {
 public:
  explicit ScriptUnit(torch::jit::Module module) : module_(std::move(module)) {
    for (const auto& parameter : module_.named_parameters()) {
      add_parameter(parameter.name, parameter.value, Init::constant(0.0));
    }
    for (const auto& buffer : module_.named_buffers()) add_buffer(buffer.name, buffer.value, 0.0);
  }

  bool opaque() const override { return true; }

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {
    const bool trains = runner.training() && !frozen();
    if (module_.is_training() != trains) module_.train(trains);
    const c10::IValue output = module_.forward({input});
    if (output.isTensor()) return output.toTensor();
    throw base::ConfigError(
        fmt::format("the TorchScript module returns {} instead of one tensor; wrap it so that forward "
                    "returns the logits alone",
                    output.tagKind()));
  }

 private:
  torch::jit::Module module_;
};

torch::jit::Module read_module(const std::string& path, const LayerOptions& layers) {
  try {
    torch::jit::Module module = torch::jit::load(path, layers.device);
    module.to(layers.device, layers.dtype);
    return module;
  } catch (const c10::Error& error) {
    throw base::DataError(fmt::format(
        "'{}' cannot be read as a TorchScript module: {}. Save it with torch.jit.script(model).save(path)",
        path, error.what_without_backtrace()));
  }
}

// TorchScript's messages are tracebacks; the cause is their last line.
std::string last_line(const std::string& message) {
  std::vector<std::string> lines;
  for (const std::string& line : base::split(message, '\n'))
    if (!base::trim(line).empty()) lines.push_back(base::trim(line));
  for (const std::string& line : lines)
    if (line.starts_with("RuntimeError:")) return line.substr(std::string("RuntimeError:").size() + 1);
  return lines.empty() ? message : lines.back();
}

void check_forward(const std::string& path, const torch::jit::Module& module) {
  const auto method = module.find_method("forward");
  const std::size_t inputs = method ? method->num_inputs() - 1 : 0;  // the module itself is the first
  if (method && inputs == 1) return;
  throw base::ConfigError(
      fmt::format("the TorchScript module '{}' {}; its forward must take one tensor, the batch", path,
                  method ? fmt::format("takes {} inputs", inputs) : "has no forward"));
}

void check_options(const std::string& path, const ModelOptions& options) {
  options.validate();
  if (options.width == 0 && options.depth == 0 && options.heads == 0) return;
  throw base::ConfigError(
      fmt::format("the TorchScript module '{}' has no options width, depth and heads", path));
}

// One sample through the module: what does not fit is said here, by name, and not by a trace of the first
// step.
void check_input(const std::string& path, torch::jit::Module& module, const ModelOptions& options,
                 const LayerOptions& layers) {
  if (options.channels == 0) return;
  const at::NoGradGuard no_gradients;
  const at::Tensor sample = at::zeros({1, options.channels, options.image_height, options.image_width},
                                      at::TensorOptions().device(layers.device).dtype(layers.dtype));
  try {
    module.eval();
    (void)module.forward({sample});
  } catch (const std::exception& error) {
    throw base::ConfigError(fmt::format(
        "the TorchScript module '{}' does not take a sample of the data ({}x{}x{}): {}. "
        "Next step: --image-size, other data, or a module for this shape.",
        path, options.channels, options.image_height, options.image_width, last_line(error.what())));
  }
}

}  // namespace

Model load_script_model(const std::string& path, const ModelOptions& options, const LayerOptions& layers) {
  check_options(path, options);
  torch::jit::Module module = read_module(path, layers);
  check_forward(path, module);
  check_input(path, module, options, layers);
  return Model(path, LossKind::cross_entropy, "", options, std::make_unique<ScriptUnit>(std::move(module)));
}

}  // namespace lockstep::models
