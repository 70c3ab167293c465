#include "lockstep/data/torch/tensors.h"

#include <ATen/ATen.h>

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

std::unique_ptr<Loader> loader_of(std::shared_ptr<const SampleSet> set, ImageShape input, std::size_t batch,
                                  int world = 1, int rank = 0) {
  TransformOptions transform;
  transform.input = input;
  const std::size_t samples = set->size();
  return std::make_unique<Loader>(std::move(set), transform,
                                  SamplerOptions{samples, batch, world, rank, 1, true}, LoaderOptions{});
}

TEST(Tensors, look_at_the_batchs_own_memory) {
  const auto loader = loader_of(std::make_shared<SampleSet>(numbered_set(20, {3, 8, 8})), {3, 8, 8}, 4);
  const auto batch = loader->next();
  const TensorBatch tensors = to_tensors(*batch);
  EXPECT_EQ(tensors.inputs.sizes(), (at::IntArrayRef{4, 3, 8, 8}));
  EXPECT_EQ(tensors.inputs.data_ptr<float>(), batch->memory->inputs.data());
  EXPECT_EQ(tensors.labels.scalar_type(), at::kLong);
  EXPECT_FALSE(tensors.targets.defined());
}

TEST(Tensors, keep_the_memory_alive_after_batch_and_loader) {
  TensorBatch tensors;
  {
    const auto loader = loader_of(std::make_shared<SampleSet>(numbered_set(20, {1, 8, 8})), {1, 8, 8}, 4);
    tensors = to_tensors(*loader->next());
    for (int i = 0; i < 20; ++i) loader->next();
  }
  EXPECT_GE(tensors.inputs.min().item<float>(), 0);
  EXPECT_LE(tensors.inputs.max().item<float>(), 1);
}

TEST(Tensors, have_the_shapes_of_each_task) {
  const auto road = load_set({"road", Split::train, {}, {}, 1, 6});
  EXPECT_EQ(to_tensors(*loader_of(road, {3, 66, 200}, 6)->next()).targets.sizes(), (at::IntArrayRef{6, 1}));
  const auto texture = load_set({"texture", Split::train, {}, {3, 16, 16}, 1, 6});
  EXPECT_EQ(to_tensors(*loader_of(texture, {3, 16, 16}, 6)->next()).targets.sizes(),
            (at::IntArrayRef{6, 3, 16, 16}));
}

TEST(Tensors, of_a_rank_without_samples_have_zero_rows) {
  const auto loader = loader_of(std::make_shared<SampleSet>(numbered_set(5, {1, 8, 8})), {1, 8, 8}, 4, 2, 1);
  loader->next();
  const TensorBatch tensors = to_tensors(*loader->next());
  EXPECT_EQ(tensors.inputs.sizes(), (at::IntArrayRef{0, 1, 8, 8}));
  EXPECT_EQ(tensors.labels.sizes(), (at::IntArrayRef{0}));
}

}  // namespace
}  // namespace lockstep::data
