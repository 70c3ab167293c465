#include "lockstep/parallel/zero/shard.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lockstep::parallel {
namespace {

at::Tensor stretch(const at::Tensor& row, std::size_t begin, std::size_t count) {
  return row.narrow(0, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(count));
}

}  // namespace

Shard shard_of(std::size_t elements, int world, int rank) {
  const auto n = static_cast<std::size_t>(world), r = static_cast<std::size_t>(rank);
  const std::size_t even = elements / n, larger = elements % n;
  return {r * even + std::min(r, larger), even + (r < larger ? 1 : 0)};
}

std::vector<std::size_t> shard_counts(std::size_t elements, int world) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < world; ++rank) counts.push_back(shard_of(elements, world, rank).count);
  return counts;
}

std::vector<Piece> pieces_of(const std::vector<std::size_t>& tensor_elements, const Shard& shard) {
  std::vector<Piece> pieces;
  std::size_t at = 0;  // where the tensor begins in the row
  for (std::size_t tensor = 0; tensor < tensor_elements.size(); ++tensor) {
    const std::size_t begin = std::max(at, shard.begin);
    const std::size_t end = std::min(at + tensor_elements[tensor], shard.begin + shard.count);
    if (begin < end) pieces.push_back({tensor, begin - at, end - begin, begin - shard.begin});
    at += tensor_elements[tensor];
  }
  return pieces;
}

void append_updatables(const std::vector<models::NamedTensor>& group, const Shard& shard,
                       const at::Tensor& values, const at::Tensor& gradients,
                       std::vector<Updatable>& updatables) {
  for (const Piece& piece : pieces_of(elements_of(group), shard)) {
    updatables.push_back(
        {fmt::format("{}[{}:{}]", group[piece.tensor].name, piece.begin, piece.begin + piece.count),
         stretch(values, piece.in_shard, piece.count), stretch(gradients, piece.in_shard, piece.count)});
  }
}

std::vector<std::size_t> elements_of(const std::vector<models::NamedTensor>& group) {
  std::vector<std::size_t> elements;
  for (const models::NamedTensor& named : group)
    elements.push_back(static_cast<std::size_t>(named.tensor.numel()));
  return elements;
}

std::size_t total_of(const std::vector<std::size_t>& elements) {
  return std::accumulate(elements.begin(), elements.end(), std::size_t{0});
}

}  // namespace lockstep::parallel
