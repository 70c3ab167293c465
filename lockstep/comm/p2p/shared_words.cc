#include "lockstep/comm/p2p/shared_words.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>

#include "lockstep/base/error.h"

namespace lockstep::comm::p2p {
namespace {

std::size_t bytes_of_group(int world) {
  return static_cast<std::size_t>(world) * sizeof(RankWords);
}

std::uint32_t load(std::uint32_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}
void store(std::uint32_t& word, std::uint32_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

shared::Invitation invitation_from(const std::string& text) {
  shared::Invitation invitation{};
  if (text.size() != 2 * invitation.size())
    throw base::CommError(base::CommError::Kind::failed,
                          "the store holds something else than shared memory's place");
  for (std::size_t i = 0; i < invitation.size(); ++i) {
    unsigned char byte = 0;
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, byte, 16);
    invitation[i] = static_cast<std::byte>(byte);
  }
  return invitation;
}

bool is_message(const Operation& operation) {
  return operation.collective == Collective::send || operation.collective == Collective::receive;
}

}  // namespace

std::unique_ptr<SharedWords> SharedWords::create(int rank, int world) {
  std::unique_ptr<SharedWords> made(
      new SharedWords(SharedMapping::create(bytes_of_group(world)), rank, world));
  made->mapping_->reserve(0, made->bytes());
  for (int each = 0; each < world; ++each) {
    RankWords& words = made->words(each);
    words.awaits = static_cast<std::uint32_t>(Meeting::read);
    for (const Meeting meeting : {Meeting::read, Meeting::taken})
      for (std::uint32_t& word : words.met[static_cast<std::size_t>(meeting)]) word = kCame;
  }
  return made;
}

std::unique_ptr<SharedWords> SharedWords::open(const std::string& invitation, int rank, int world) {
  return std::unique_ptr<SharedWords>(
      new SharedWords(SharedMapping::open(invitation_from(invitation), bytes_of_group(world)), rank, world));
}

SharedWords::SharedWords(std::shared_ptr<SharedMapping> mapping, int rank, int world)
    : rank_(rank), world_(world), mapping_(std::move(mapping)), locks_(*mapping_, rank) {}

std::string SharedWords::invitation() const {
  std::string text;
  for (const std::byte each : mapping_->invitation())
    text += fmt::format("{:02x}", static_cast<unsigned>(each));
  return text;
}

RankWords& SharedWords::words(int rank) const {
  return reinterpret_cast<RankWords*>(data())[rank];
}

void SharedWords::submitted(const Operation& operation) {
  RankWords& own = words(rank_);
  const auto peer = static_cast<std::size_t>(operation.root);
  std::uint32_t& count = operation.collective == Collective::send      ? own.sent[peer]
                         : operation.collective == Collective::receive ? own.received[peer]
                                                                       : own.submitted;
  store(count, count + 1);
}

void SharedWords::completed(const Operation& operation) {
  RankWords& own = words(rank_);
  if (operation.collective == Collective::send)
    ++sent_[operation.root];
  else if (operation.collective == Collective::receive)
    ++received_[operation.root];
  else
    store(own.completed, own.completed + 1);
}

void SharedWords::release() noexcept {
  for (auto& meeting : words(rank_).met)
    for (std::uint32_t& word : meeting) store(word, kCame);
}

// Whose signal a rank lacks for its next phase, as far as its device has said.
std::optional<int> SharedWords::missing_peer(int rank) const {
  RankWords& own = words(rank);
  const std::uint32_t awaits = load(own.awaits);
  if (awaits >= kMeetings) return std::nullopt;
  for (int peer = 0; peer < world_; ++peer)
    if (peer != rank && load(own.met[awaits][peer]) == 0) return peer;
  return std::nullopt;
}

Late SharedWords::late_in(int peer, std::uint32_t number) const {
  if (!locks_.alive(peer)) return {Cause::ended, peer};
  const std::uint32_t submitted = load(words(peer).submitted);
  const bool has_come = static_cast<std::int32_t>(submitted - number) >= 0;
  return {has_come ? Cause::not_reached : Cause::not_submitted, peer};
}

// A peer whose signal is missing may itself lack another's: the chain ends at a rank that lacks none, since
// one of the ranks that are furthest behind is always free to go on (phases.h).
Late SharedWords::late_in_phases(const Operation& operation) const {
  if (is_message(operation)) return late_peer(operation, operation.root);
  const std::uint32_t number = load(words(rank_).begun);
  Late late{Cause::own_device, rank_};
  std::optional<int> peer = missing_peer(rank_);
  for (int looks = 0; peer && *peer != rank_ && looks < world_; ++looks) {
    late = late_in(*peer, number);
    if (late.cause != Cause::not_reached) break;
    peer = missing_peer(*peer);
  }
  return late;
}

Late SharedWords::late_peer(const Operation& operation, int peer) const {
  if (!is_message(operation)) return late_in(peer, load(words(rank_).completed) + 1);
  if (!locks_.alive(peer)) return {Cause::ended, peer};
  RankWords& theirs = words(peer);
  const bool has_come = operation.collective == Collective::receive
                            ? load(theirs.sent[rank_]) > received_[peer]
                            : load(theirs.received[rank_]) > sent_[peer];
  return {has_come ? Cause::not_reached : Cause::not_submitted, peer};
}

std::string SharedWords::progress(bool in_phases) const {
  std::string text;
  for (int rank = 0; rank < world_; ++rank) {
    RankWords& each = words(rank);
    text += fmt::format("{}rank {} has submitted {}", rank == 0 ? "" : "; ", rank, load(each.submitted));
    text += in_phases ? fmt::format(", begun {}, ended {}", load(each.begun), load(each.ended))
                      : fmt::format(", seen {} end", load(each.completed));
  }
  return text;
}

}  // namespace lockstep::comm::p2p
