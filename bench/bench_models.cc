// Times forward and backward of models: CPU time of the calling thread (the machine may be shared), medians.
//
//   bench_models alexnet,vgg16 8,32 [steps] [channels-last] [grad]
//
// Gradients go into slots that are written directly, as the strategies have it; `grad`: into .grad.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include "lockstep/base/text.h"
#include "lockstep/models/layers/standard_layers.h"
#include "lockstep/models/loss.h"
#include "lockstep/models/model.h"
#include "lockstep/models/runner.h"

namespace {

using namespace lockstep::models;

struct Settings {
  std::int64_t steps = 10;
  bool channels_last = false;
  bool slots = true;
};

double thread_milliseconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The smallest images a model takes: what the figures in docs/ are made with.
ModelOptions options_of(const std::string& name) {
  ModelOptions options;
  const std::set<std::string> at_32 = {"vgg16", "densenet121", "resnet18", "squeezenet1_0"};
  if (at_32.contains(name)) options.image_height = options.image_width = 32;
  if (name == "alexnet") options.image_height = options.image_width = 64;
  return options;
}

// What a strategy does with gradients, without the communication.
class Gradients {
 public:
  Gradients(const Model& model, bool slots) : parameters_(model.parameters()) {
    if (slots) slots_ = gradient_slots_of(model.root());
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]->direct()) slots_[i]->view = at::zeros_like(parameters_[i].tensor.detach());
    }
  }
  void start_step() {
    for (const auto& slot : slots_) slot->fresh = true;
    for (const NamedTensor& parameter : parameters_) parameter.tensor.mutable_grad().reset();
  }

 private:
  std::vector<NamedTensor> parameters_;
  std::vector<std::shared_ptr<GradientSlot>> slots_;
};

at::Tensor make_inputs(const Model& model, std::int64_t batch, bool channels_last) {
  const ModelOptions& options = model.options();
  at::Tensor inputs = at::empty({batch, options.channels, options.image_height, options.image_width});
  fill(inputs, Init::uniform(1.0), 1, "inputs");
  return channels_last ? inputs.contiguous(at::MemoryFormat::ChannelsLast) : inputs;
}

at::Tensor make_targets(const Model& model, std::int64_t batch, const at::Tensor& output) {
  if (model.loss() != LossKind::cross_entropy) return at::zeros_like(output);
  return at::arange(batch, at::kLong).remainder(model.options().classes);
}

void time_model(const std::string& name, std::int64_t batch, const Settings& settings) {
  StandardLayers layers({.channels_last = settings.channels_last});
  const Model model = build_model(name, options_of(name), layers, 1);
  Gradients gradients(model, settings.slots);
  const at::Tensor inputs = make_inputs(model, batch, settings.channels_last);
  Runner runner;
  std::vector<double> forward, backward;
  for (std::int64_t step = -2; step < settings.steps; ++step) {
    gradients.start_step();
    const double start = thread_milliseconds();
    const at::Tensor output =
        runner.forward(model.root(), inputs, {.step = static_cast<std::uint64_t>(step + 2)});
    const at::Tensor loss = mean_loss(model.loss(), output, make_targets(model, batch, output.detach()));
    const double middle = thread_milliseconds();
    runner.backward(loss);
    const double end = thread_milliseconds();
    if (step < 0) continue;
    forward.push_back(middle - start);
    backward.push_back(end - middle);
  }
  fmt::print("{:<15} batch {:>3}: forward {:8.2f}  backward {:8.2f}  together {:8.2f} ms\n", name, batch,
             median(forward), median(backward), median(forward) + median(backward));
}

}  // namespace

int main(int count, char** values) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  at::set_num_threads(1);
  const std::vector<std::string> words(values + 1, values + count);
  if (words.size() < 2)
    return fmt::print(stderr, "usage: bench_models MODELS BATCHES [steps] [channels-last] [grad]\n"), 2;
  Settings settings;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "channels-last") settings.channels_last = true;
    if (words[i] == "grad") settings.slots = false;
    if (std::atoi(words[i].c_str()) > 0) settings.steps = std::atoi(words[i].c_str());
  }
  for (const std::string& name : lockstep::base::split(words[0], ',')) {
    for (const std::string& batch : lockstep::base::split(words[1], ','))
      time_model(name, std::stoll(batch), settings);
  }
}
