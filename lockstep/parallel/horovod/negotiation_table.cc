#include "lockstep/parallel/horovod/negotiation_table.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"

namespace lockstep::parallel::horovod {
namespace {

[[noreturn]] void disagree(int rank, const std::string& what) {
  throw base::CommError(base::CommError::Kind::disagreement,
                        fmt::format("rank {} {}. Likely cause: it trains another model than rank 0; start "
                                    "all ranks with the same model and options.",
                                    rank, what));
}

}  // namespace

NegotiationTable::NegotiationTable(std::span<const TensorFacts> tensors, int world)
    : tensors_(tensors), world_(world), entries_(tensors.size()) {}

void NegotiationTable::add(int rank, const Request& request) {
  if (request.tensor >= tensors_.size())
    disagree(rank, fmt::format("asks for gradient {} of {}", request.tensor, tensors_.size()));
  const TensorFacts& facts = tensors_[request.tensor];
  if (request.bytes != facts.bytes || request.type != static_cast<std::uint32_t>(facts.type))
    disagree(rank, fmt::format("has {} bytes of gradient {}, and rank 0 has {}", request.bytes, facts.name,
                               facts.bytes));
  Entry& entry = entries_[request.tensor];
  if (entry.asked.empty()) entry.asked.resize(static_cast<std::size_t>(world_));
  if (entry.asked[static_cast<std::size_t>(rank)])
    disagree(rank, fmt::format("asks for gradient {} twice", facts.name));
  entry.asked[static_cast<std::size_t>(rank)] = true;
  if (++entry.count < world_) return;
  ready_.push_back(request.tensor);
  entry = {};
}

std::vector<std::size_t> NegotiationTable::take_ready() {
  return std::exchange(ready_, {});
}

std::vector<int> NegotiationTable::missing_of(const Entry& entry) const {
  std::vector<int> missing;
  for (int rank = 0; rank < world_; ++rank) {
    if (!entry.asked[static_cast<std::size_t>(rank)]) missing.push_back(rank);
  }
  return missing;
}

std::vector<Waiting> NegotiationTable::waiting() const {
  std::vector<Waiting> waiting;
  for (std::size_t tensor = 0; tensor < entries_.size(); ++tensor) {
    if (entries_[tensor].count > 0) waiting.push_back({tensor, missing_of(entries_[tensor])});
  }
  return waiting;
}

}  // namespace lockstep::parallel::horovod
