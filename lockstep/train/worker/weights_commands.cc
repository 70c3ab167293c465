// `lockstep-worker export-weights` and `logits`: weights and outputs as files, for other programs to compare
// with.
#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/models/runner.h"
#include "lockstep/models/weights.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/train/network.h"
#include "lockstep/train/worker/arguments.h"
#include "lockstep/train/worker/commands.h"
#include "lockstep/train/worker/stored_spec.h"

namespace lockstep::train {
namespace {

at::Tensor tensor_named(const std::vector<models::NamedTensor>& tensors, const std::string& name,
                        const std::string& origin) {
  for (const models::NamedTensor& named : tensors) {
    if (named.name == name) return named.tensor;
  }
  throw base::DataError(fmt::format("{} holds no tensor '{}'.", origin, name));
}

// As many classes as the weights' own head has.
std::int64_t classes_of(const std::string& model, const std::vector<models::NamedTensor>& weights) {
  const models::Model sketch = models::sketch_model(model, {}, {});
  for (const models::NamedTensor& named : weights) {
    if (named.name == sketch.head() + ".bias") return named.tensor.numel();
  }
  return 0;
}

}  // namespace

int export_weights_command(const Words& words) {
  const Arguments arguments(words, {"--spec", "--out"});
  const record::RunSpec spec = read_stored_spec(arguments.need("--spec"));
  const auto layers = models::standard_layers(layer_options({}));
  const Network network = build_network(spec, record::data_entry(spec.data).classes, *layers);
  models::save_safetensors(arguments.need("--out"), network.model.state(), {{"model", spec.model}});
  return 0;
}

int logits_command(const Words& words) {
  const Arguments arguments(words, {"--model", "--weights", "--input", "--out", "--device"});
  const std::string name = arguments.need("--model");
  const std::string weights_path = arguments.need("--weights");
  const auto weights = models::read_weights(weights_path);
  const at::Device device(arguments.find("--device").value_or("cpu"));
  const at::Tensor input =
      tensor_named(models::read_safetensors(arguments.need("--input")), "input", arguments.need("--input"));
  models::ModelOptions options;
  options.classes = classes_of(name, weights);
  options.channels = input.size(1);
  options.image_height = input.size(2);
  options.image_width = input.size(3);
  models::LayerOptions layer_options;
  layer_options.device = device;
  const auto layers = models::standard_layers(layer_options);
  const models::Model model = models::build_model(name, options, *layers, 1);
  models::load_weights(model, weights, weights_path);
  const at::NoGradGuard no_grad;
  models::Runner runner;
  models::PassKey key;
  key.training = false;
  const at::Tensor output = runner.forward(model.root(), input.to(device), key);
  models::save_safetensors(arguments.need("--out"), {{"output", output.cpu()}});
  return 0;
}

}  // namespace lockstep::train
