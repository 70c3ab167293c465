#include "lockstep/parallel/dp/pieces.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace lockstep::parallel {
namespace {

std::vector<at::Tensor> tensors() {
  return {at::zeros({10}), at::zeros({5}, at::kLong), at::zeros({30}),
          at::zeros({10}), at::zeros({2}, at::kLong), at::zeros({100})};
}

TEST(PieceLayout, ClosesAPieceBeforeTheTensorThatWouldMakeItTooLarge) {
  const PieceLayout layout = lay_out_pieces(tensors(), 160);
  EXPECT_EQ(layout, (PieceLayout{{0, 2}, {3}, {5}, {1, 4}}));
}

TEST(PieceLayout, GivesATensorThatIsLargerAPieceOfItsOwn) {
  const PieceLayout layout = lay_out_pieces(tensors(), 1);
  EXPECT_EQ(layout.size(), tensors().size());
}

TEST(Pieces, HaveAPlaceForEveryTensorWithItsStrides) {
  const at::Tensor last = at::zeros({2, 3, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast);
  const std::vector<at::Tensor> all = {at::zeros({3}), last};
  const Pieces pieces(all, lay_out_pieces(all, 1 << 20));
  ASSERT_EQ(pieces.count(), 1u);
  EXPECT_EQ(pieces.flat(0).numel(), 3 + 96);
  EXPECT_EQ(pieces.view(1).strides(), last.strides());
  pieces.view(0).fill_(1);
  pieces.view(1).fill_(2);
  EXPECT_EQ(pieces.flat(0).sum().item<float>(), 3 + 2 * 96);
}

}  // namespace
}  // namespace lockstep::parallel
