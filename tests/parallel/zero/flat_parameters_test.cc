#include "lockstep/parallel/zero/flat_parameters.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace lockstep::parallel {
namespace {

std::vector<models::NamedTensor> two_parameters() {
  at::Tensor weight = at::randn({3, 4}),
             filters = at::randn({2, 3, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast);
  weight.set_requires_grad(true);
  filters.set_requires_grad(true);
  return {{"weight", weight}, {"filters", filters}};
}

TEST(FlatParameters, ParametersKeepValuesSizesAndStrides) {
  const std::vector<models::NamedTensor> parameters = two_parameters();
  const at::Tensor weight = parameters[0].tensor.detach().clone(),
                   filters = parameters[1].tensor.detach().clone();
  const auto strides = parameters[1].tensor.strides().vec();
  const FlatParameters flat(parameters);
  EXPECT_EQ(flat.elements(), 12u + 24u);
  EXPECT_TRUE(parameters[0].tensor.equal(weight));
  EXPECT_TRUE(parameters[1].tensor.equal(filters));
  EXPECT_EQ(parameters[1].tensor.strides().vec(), strides);
  EXPECT_TRUE(parameters[0].tensor.requires_grad());
  EXPECT_TRUE(parameters[0].tensor.is_leaf());
}

TEST(FlatParameters, MemoryThatWasDroppedCanBeGivenBackToBackward) {
  const std::vector<models::NamedTensor> parameters = two_parameters();
  FlatParameters flat(parameters);
  const at::Tensor values = flat.row().clone(), input = at::randn({5, 4});
  at::Tensor start = input.clone();
  start.set_requires_grad(true);
  const at::Tensor loss = at::mm(start, parameters[0].tensor.t()).square().sum();  // autograd keeps a view
  flat.drop();
  EXPECT_FALSE(flat.has_room());
  EXPECT_EQ(parameters[0].tensor.sizes(), at::IntArrayRef({3, 4}));
  flat.make_room();
  flat.row().copy_(values);
  torch::autograd::backward({loss}, {});
  const at::Tensor weight = values.narrow(0, 0, 12).view({3, 4});
  EXPECT_TRUE(at::allclose(start.grad(), 2 * at::mm(at::mm(input, weight.t()), weight)));
}

}  // namespace
}  // namespace lockstep::parallel
