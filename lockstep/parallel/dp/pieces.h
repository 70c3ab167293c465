// Tensors packed one after another into *pieces*, so that one operation moves many of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::parallel {

// Which tensors go together: indices, in order.
using PieceLayout = std::vector<std::vector<std::size_t>>;

// Tensors of one type share pieces, in their order; a piece is closed before the tensor that would make it
// larger than `piece_bytes`, so only a tensor that is larger by itself makes a larger piece. Pure.
PieceLayout lay_out_pieces(const std::vector<at::Tensor>& tensors, std::uint64_t piece_bytes);

// The bytes of a piece, or of everything.
std::uint64_t bytes_in(const std::vector<at::Tensor>& tensors, const std::vector<std::size_t>& piece);
std::uint64_t bytes_in(const std::vector<at::Tensor>& tensors);

// Memory for pieces, with a place for every tensor: its sizes, strides and type.
class Pieces {
 public:
  Pieces(const std::vector<at::Tensor>& tensors, const PieceLayout& layout);

  std::size_t count() const { return flat_.size(); }
  const at::Tensor& flat(std::size_t piece) const { return flat_[piece]; }     // [elements]
  const at::Tensor& view(std::size_t tensor) const { return views_[tensor]; }  // of the tensor of that number

 private:
  std::vector<at::Tensor> flat_;
  std::vector<at::Tensor> views_;
};

}  // namespace lockstep::parallel
