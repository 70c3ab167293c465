#include "lockstep/parallel/fingerprint.h"

#include <ATen/ATen.h>

#include <bit>
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/base/keyed_random.h"
#include "lockstep/base/text.h"
#include "lockstep/comm/operation.h"

namespace lockstep::parallel {
namespace {

constexpr std::size_t kLanes = 8;  // independent sums, so that the processor works on several at once

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// A lane takes in a word by steps that can be undone, so a single changed word always shows. A product
// carries changes upwards only, and that of a sign bit nowhere; the shift brings the upper half down first,
// so that no two changed bits cancel.
std::uint64_t take_in(std::uint64_t lane, std::uint64_t word) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ull;
  constexpr int kRotation = 29;
  constexpr int kHalf = 32;
  const std::uint64_t both = lane ^ word;
  return std::rotl((both ^ both >> kHalf) * kFactor, kRotation);
}

std::uint64_t hash_bytes(const std::byte* bytes, std::size_t count) {
  constexpr std::size_t kStride = kLanes * sizeof(std::uint64_t);
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::size_t at = 0;
  for (; at + kStride <= count; at += kStride) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = take_in(lanes[lane], word_at(bytes + at + lane * sizeof(std::uint64_t)));
  }
  std::uint64_t key = count;
  for (const std::uint64_t lane : lanes) key = base::mix_bits(key ^ lane);
  for (; at < count; ++at) key = base::mix_bits(key ^ static_cast<std::uint64_t>(bytes[at]));
  return key;
}

std::string ranks_that_differ(const std::vector<std::uint64_t>& words) {
  std::vector<std::string> ranks;
  for (std::size_t rank = 1; rank < words.size(); ++rank) {
    if (words[rank] != words.front()) ranks.push_back(std::to_string(rank));
  }
  return base::join(ranks, ", ");
}

}  // namespace

std::uint64_t fingerprint(const std::vector<at::Tensor>& tensors) {
  std::uint64_t key = tensors.size();
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor here = tensor.detach().cpu();
    key = base::mix_bits(key ^ hash_bytes(static_cast<const std::byte*>(here.data_ptr()), here.nbytes()));
  }
  return key;
}

std::vector<std::uint64_t> gather_words(comm::Communicator& communicator, std::uint64_t word) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(communicator.group().world));
  const comm::Buffer mine = comm::host_buffer(&word, 1, comm::ElementType::i64);
  const comm::Buffer all = comm::host_buffer(words.data(), words.size(), comm::ElementType::i64);
  communicator.run(comm::all_gather(mine, all, comm::Purpose::control));
  return words;
}

void require_equal_replicas(comm::Communicator& communicator, const std::vector<at::Tensor>& tensors,
                            std::int64_t step) {
  const std::vector<std::uint64_t> words = gather_words(communicator, fingerprint(tensors));
  const std::string differing = ranks_that_differ(words);
  if (differing.empty()) return;
  throw base::VerificationError(
      fmt::format("after step {} the parameters of rank {} are not those of rank 0, bit for bit. A worker "
                  "computed something "
                  "else: memory errors, other library versions or instruction sets on another host are the "
                  "likely causes.",
                  step, differing));
}

}  // namespace lockstep::parallel
