// Dividing a row of elements among workers. A *flat group* is a list of tensors laid one after another as one
// row of elements; a *shard* is the contiguous part of the row that belongs to one worker. Shards are as
// equal as they can be without padding: the first ones have one element more where the count does not divide.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "lockstep/models/unit.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::parallel {

// Of a row, in elements.
struct Shard {
  std::size_t begin = 0;
  std::size_t count = 0;
  bool operator==(const Shard&) const = default;
};

Shard shard_of(std::size_t elements, int world, int rank);
// The elements of every rank's shard, as the collectives want them.
std::vector<std::size_t> shard_counts(std::size_t elements, int world);

// What of one tensor lies in a shard.
struct Piece {
  std::size_t tensor = 0;    // its number in the group
  std::size_t begin = 0;     // elements of the tensor before the piece
  std::size_t count = 0;     // never 0
  std::size_t in_shard = 0;  // elements of the shard before it
  bool operator==(const Piece&) const = default;
};
std::vector<Piece> pieces_of(const std::vector<std::size_t>& tensor_elements, const Shard& shard);

// One updatable for every piece, named "conv1.weight[100:250]". `values` and `gradients` are the shard's
// elements, [shard.count] each.
void append_updatables(const std::vector<models::NamedTensor>& group, const Shard& shard,
                       const at::Tensor& values, const at::Tensor& gradients,
                       std::vector<Updatable>& updatables);

std::vector<std::size_t> elements_of(const std::vector<models::NamedTensor>& group);
std::size_t total_of(const std::vector<std::size_t>& elements);

}  // namespace lockstep::parallel
