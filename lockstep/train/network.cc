#include "lockstep/train/network.h"

#include <ATen/ATen.h>
#include <torch/cuda.h>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/models/recompute.h"
#include "lockstep/models/registry.h"
#include "lockstep/models/trainable.h"
#include "lockstep/models/weights.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_models.h"

namespace lockstep::train {
namespace {

std::int64_t option_of(const record::Options& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? 0 : static_cast<std::int64_t>(found->second);
}

models::LossKind loss_kind(const record::RunSpec& spec, const models::Model& model) {
  // Restoring images is judged by their mean squared error too, and by PSNR besides.
  if (model.loss() == models::LossKind::restore) return model.loss();
  if (spec.loss == "mse") return models::LossKind::mse;
  if (spec.loss == "cross-entropy") return models::LossKind::cross_entropy;
  return model.loss();
}

void load_initial_weights(const record::RunSpec& spec, Network& network) {
  if (!spec.weights) return;
  const models::LoadReport report =
      models::load_weights(network.model, models::read_weights(*spec.weights), *spec.weights);
  network.remarks.push_back(
      fmt::format("{} tensors were loaded from {}", report.loaded.size(), *spec.weights));
  if (!report.left_alone.empty())
    network.remarks.push_back(fmt::format("left at their initial values, because their shapes differ: {}",
                                          base::join(report.left_alone, ", ")));
}

void freeze_the_rest(const record::RunSpec& spec, Network& network) {
  if (spec.trainable == "all") return;
  const models::TrainableReport report =
      models::set_trainable(network.model, models::parse_trainable(spec.trainable));
  network.remarks.push_back(fmt::format("{} parameters are trained and {} frozen ({})",
                                        report.trainable_parameters, report.frozen_parameters,
                                        spec.trainable));
  if (report.frozen_parameters > 0 && !spec.weights)
    network.remarks.emplace_back("warning: random weights are frozen; give trained ones with --weights");
}

// Workers take turns with the devices there are: several may share one.
at::DeviceIndex device_for(int local_rank) {
  const auto devices = static_cast<int>(torch::cuda::device_count());
  if (devices == 0)
    throw base::DeviceError(
        "there is no GPU that this worker could use (libtorch sees none). Use --device cpu.");
  return static_cast<at::DeviceIndex>(local_rank % devices);
}

// f32 means f32: without this, libraries round to TF32's ten bits where they think it pays. With bf16 speed
// is what matters: the fastest algorithm is found by trying, and may be another one tomorrow. With f64, which
// is for comparing, it is one that adds up in the same order every time.
void set_up_gpu(at::ScalarType type) {
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setBenchmarkCuDNN(type == at::kBFloat16);
  at::globalContext().setDeterministicCuDNN(type == at::kDouble);
}

// On cores it depends on the model and pays in f32; on a GPU tensor cores want it.
bool wants_channels_last(const record::RunSpec& spec, const Placement& placement) {
  if (record::is_model_file(spec.model) || spec.memory_order == "channels-first") return false;
  if (spec.memory_order == "channels-last") return true;
  if (!placement.device.is_cpu()) return placement.type == at::kBFloat16;
  return placement.type == at::kFloat && models::model_entry(spec.model).prefers_channels_last;
}

}  // namespace

Placement placement_of(const record::RunSpec& spec, int local_rank) {
  Placement placement;
  if (spec.precision == "f64") placement.type = at::kDouble;
  if (spec.precision == "bf16") placement.type = at::kBFloat16;
  if (spec.device == "cuda") {
    placement.device = at::Device(at::kCUDA, device_for(local_rank));
    set_up_gpu(placement.type);
  }
  placement.channels_last = wants_channels_last(spec, placement);
  return placement;
}

models::ModelOptions model_options(const record::RunSpec& spec, int classes) {
  const record::ImageShape input = record::input_shape(spec);
  const record::Options options = record::model_options(spec);
  models::ModelOptions asked;
  asked.classes = classes;
  asked.channels = input.channels;
  asked.image_height = input.height;
  asked.image_width = input.width;
  asked.width = option_of(options, "width");
  asked.depth = option_of(options, "depth");
  asked.heads = option_of(options, "heads");
  return asked;
}

models::LayerOptions layer_options(const Placement& placement) {
  models::LayerOptions options;
  options.channels_last = placement.channels_last;
  options.dtype = placement.type;
  options.device = placement.device;
  return options;
}

Network build_network(const record::RunSpec& spec, int classes, models::LayerFactory& layers) {
  models::Model model = models::build_model(spec.model, model_options(spec, classes), layers,
                                            static_cast<std::uint64_t>(spec.seed));
  const models::LossKind loss = loss_kind(spec, model);
  Network network{std::move(model), loss, {}};
  load_initial_weights(spec, network);
  freeze_the_rest(spec, network);
  if (spec.recompute) models::recompute_activations(network.model);
  return network;
}

}  // namespace lockstep::train
