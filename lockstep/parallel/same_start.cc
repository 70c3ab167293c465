#include "lockstep/parallel/same_start.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/keyed_random.h"
#include "lockstep/base/text.h"
#include "lockstep/comm/operation.h"
#include "lockstep/parallel/fingerprint.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {
namespace {

std::uint64_t hash_text(const std::string& text) {
  std::uint64_t key = text.size();
  for (const char letter : text) key = base::mix_bits(key ^ static_cast<unsigned char>(letter));
  return key;
}

std::string shape_text(const models::NamedTensor& named) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : named.tensor.sizes()) sizes.push_back(std::to_string(size));
  return fmt::format("{} {} [{}]", named.name, at::toString(named.tensor.scalar_type()),
                     base::join(sizes, ", "));
}

// One word for each tensor of the state.
std::vector<std::uint64_t> shape_words(const std::vector<models::NamedTensor>& state) {
  std::vector<std::uint64_t> words;
  for (const models::NamedTensor& named : state) words.push_back(hash_text(shape_text(named)));
  return words;
}

std::uint64_t one_word(const std::vector<std::uint64_t>& words) {
  std::uint64_t key = words.size();
  for (const std::uint64_t word : words) key = base::mix_bits(key ^ word);
  return key;
}

std::vector<std::uint64_t> words_of_rank_0(comm::Communicator& communicator,
                                           std::vector<std::uint64_t> words) {
  std::uint64_t count = words.size();
  communicator.run(
      comm::broadcast(comm::host_buffer(&count, 1, comm::ElementType::i64), 0, comm::Purpose::control));
  words.resize(count);
  communicator.run(comm::broadcast(comm::host_buffer(words.data(), count, comm::ElementType::i64), 0,
                                   comm::Purpose::control));
  return words;
}

[[noreturn]] void refuse(int rank, const std::string& what) {
  throw base::ConfigError(fmt::format(
      "rank {} has another model than rank 0: {}. All ranks must be started with the same model and options.",
      rank, what));
}

void name_the_difference(comm::Communicator& communicator, const std::vector<models::NamedTensor>& state) {
  const std::vector<std::uint64_t> mine = shape_words(state);
  const std::vector<std::uint64_t> first = words_of_rank_0(communicator, mine);
  const int rank = communicator.group().rank;
  const std::size_t common = std::min(mine.size(), first.size());
  for (std::size_t index = 0; index < common; ++index) {
    if (mine[index] != first[index]) refuse(rank, "it differs in " + shape_text(state[index]));
  }
  if (mine.size() != first.size())
    refuse(rank, fmt::format("it has {} tensors, and rank 0 has {}", mine.size(), first.size()));
}

void broadcast_all(comm::Communicator& communicator, const std::vector<models::NamedTensor>& tensors,
                   comm::Purpose purpose) {
  for (const models::NamedTensor& named : tensors)
    communicator.run(comm::broadcast(buffer_of(named.tensor), 0, purpose));
}

}  // namespace

void require_same_shapes(comm::Communicator& communicator, const models::Model& model) {
  const std::vector<models::NamedTensor> state = model.state();
  const std::vector<std::uint64_t> all = gather_words(communicator, one_word(shape_words(state)));
  const bool same =
      std::all_of(all.begin(), all.end(), [&](std::uint64_t word) { return word == all.front(); });
  if (!same) name_the_difference(communicator, state);
  if (!same) throw base::CommError(base::CommError::Kind::collateral, "another rank has another model");
}

void broadcast_state(comm::Communicator& communicator, const models::Model& model) {
  broadcast_all(communicator, model.parameters(), comm::Purpose::parameter);
  broadcast_all(communicator, model.buffers(), comm::Purpose::buffer);
}

}  // namespace lockstep::parallel
