#include "lockstep/parallel/dp/pieces.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace lockstep::parallel {
namespace {

std::vector<at::ScalarType> types_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::ScalarType> types;
  for (const at::Tensor& tensor : tensors) {
    if (std::find(types.begin(), types.end(), tensor.scalar_type()) == types.end())
      types.push_back(tensor.scalar_type());
  }
  return types;
}

}  // namespace

PieceLayout lay_out_pieces(const std::vector<at::Tensor>& tensors, std::uint64_t piece_bytes) {
  PieceLayout layout;
  for (const at::ScalarType type : types_of(tensors)) {
    std::uint64_t filled = 0;
    bool open = false;
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      if (tensors[index].scalar_type() != type) continue;
      const std::uint64_t bytes = tensors[index].nbytes();
      if (!open || filled + bytes > piece_bytes) {
        layout.emplace_back();
        filled = 0;
        open = true;
      }
      layout.back().push_back(index);
      filled += bytes;
    }
  }
  return layout;
}

std::uint64_t bytes_in(const std::vector<at::Tensor>& tensors, const std::vector<std::size_t>& piece) {
  std::uint64_t bytes = 0;
  for (const std::size_t index : piece) bytes += tensors[index].nbytes();
  return bytes;
}

std::uint64_t bytes_in(const std::vector<at::Tensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += tensor.nbytes();
  return bytes;
}

Pieces::Pieces(const std::vector<at::Tensor>& tensors, const PieceLayout& layout) : views_(tensors.size()) {
  for (const std::vector<std::size_t>& piece : layout) {
    std::int64_t elements = 0;
    for (const std::size_t index : piece) elements += tensors[index].numel();
    const at::Tensor flat = at::empty({elements}, tensors[piece.front()].options().requires_grad(false));
    std::int64_t offset = 0;
    for (const std::size_t index : piece) {
      const at::Tensor& like = tensors[index];
      views_[index] = flat.as_strided(like.sizes(), like.strides(), offset);
      offset += like.numel();
    }
    flat_.push_back(flat);
  }
}

}  // namespace lockstep::parallel
