#include "lockstep/parallel/single.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/models/registry.h"
#include "lockstep/parallel/compute_queue.h"

namespace lockstep::parallel {
namespace {

models::Model small_model() {
  models::ModelOptions options;
  options.classes = 10;
  options.channels = 1;
  options.image_height = options.image_width = 28;
  const auto layers = models::standard_layers({});
  return models::build_model("lenet5", options, *layers, 1);
}

// Gradients that autograd made are counted as gradients as soon as they are there.
TEST(Single, CountsItsGradientsAsGradients) {
  const auto memory = std::make_shared<measure::MemoryAccount>();
  measure::install_counting_allocator(memory);
  models::Model model = small_model();
  const record::RunSpec spec;
  const auto timer = measure::host_step_timer();
  const auto compute = host_compute_queue();
  Single single({spec, model, models::LossKind::cross_entropy, nullptr, *compute, *timer, *memory});
  StepPart part;
  part.inputs = at::ones({4, 1, 28, 28});
  part.targets = at::zeros({4}, at::TensorOptions().dtype(at::kLong));
  part.divisor = 4;
  (void)single.train_part(part);
  single.finish_gradients();
  std::uint64_t bytes = 0;
  for (const Updatable& updatable : single.updatables()) bytes += updatable.gradient.nbytes();
  EXPECT_EQ(memory->by_use()[static_cast<std::size_t>(measure::Use::gradients)], bytes);
}

}  // namespace
}  // namespace lockstep::parallel
