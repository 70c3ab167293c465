#include "lockstep/comm/p2p/p2p_link.h"

#include <fmt/format.h>

#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"
#include "lockstep/comm/p2p/plan.h"

namespace lockstep::comm::p2p {
namespace {

using Kind = base::CommError::Kind;

constexpr std::size_t kNotesOffset = 64;
constexpr std::size_t kNotes = 1024;
static_assert(sizeof(HostWords) <= kNotesOffset);

std::string text_of(const Late& late, bool shares_a_gpu) {
  switch (late.cause) {
    case Cause::ended:
      return fmt::format("rank {} has ended, or left this communicator. Look at its log.", late.rank);
    case Cause::not_submitted:
      return fmt::format(
          "rank {} did not come. Look at its log; it may have ended, be stopped, or be somewhere else "
          "in the program.",
          late.rank);
    case Cause::not_reached:
      return shares_a_gpu ? fmt::format(
                                "rank {} came, but its device did not get to it: ranks share a GPU, and "
                                "something else "
                                "has it. Give each a larger share or use fewer workers; --overlap off keeps "
                                "communication and computation apart.",
                                late.rank)
                          : fmt::format(
                                "rank {} came, but its device did not get to it: something that was put on "
                                "that device "
                                "before does not end. Look at its log.",
                                late.rank);
    case Cause::own_device:
      break;
  }
  return fmt::format(
      "this rank's own device did not get on with it{}. Look at what else was put on it; --overlap off "
      "keeps communication and computation apart.",
      shares_a_gpu ? ": ranks share a GPU, and something else has it" : "");
}

}  // namespace

P2pLink::P2pLink(int rank, int world, base::Nanoseconds timeout)
    : rank_(rank),
      world_(world),
      timeout_(timeout),
      memory_(device::cuda::MemoryKind::pinned, kNotesOffset + kNotes * sizeof(std::uint64_t)) {
  std::memset(memory_.data(), 0, memory_.bytes());
}

HostWords* P2pLink::words() const {
  return reinterpret_cast<HostWords*>(memory_.data());
}

Trouble P2pLink::trouble() const {
  return static_cast<Trouble>(std::atomic_ref(words()->trouble).load(std::memory_order_acquire));
}

int P2pLink::peer() const {
  return std::atomic_ref(words()->peer).load(std::memory_order_relaxed);
}

std::uint64_t* P2pLink::next_note() {
  auto* note = reinterpret_cast<std::uint64_t*>(memory_.data() + kNotesOffset) + notes_++ % kNotes;
  std::atomic_ref(*note).store(0, std::memory_order_release);
  return note;
}

void P2pLink::check_health(std::string_view what) {
  if (aborted())
    throw base::CommError(Kind::collateral,
                          fmt::format("rank {}: {} was ended: {}", rank_, what, abort_reason()));
  switch (trouble()) {
    case Trouble::none:
      return;
    case Trouble::timed_out:
      throw base::CommError(Kind::timed_out, fmt::format("rank {}: {} over p2p did not end within {}", rank_,
                                                         what, base::format_duration(timeout_)));
    case Trouble::disagreement:
      throw base::CommError(
          Kind::disagreement,
          fmt::format("rank {}: rank {} does not do the same as this rank, which does {} over p2p: "
                      "collective, element type, counts, reduction or root differ. Every rank must "
                      "give the same operations in the same order.",
                      rank_, peer(), what));
  }
}

void P2pLink::abort(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (reason_.empty()) reason_ = reason;
  } catch (const std::exception&) {
    // Without memory for the reason the end is still the end.
  }
  aborted_.store(true, std::memory_order_release);
  std::atomic_ref(words()->abort).store(1, std::memory_order_release);
  abort_again();
}

// After the word that makes kernels leave: one that begins because its wait was ended so finds that (phases.h
// says who looks).
void P2pLink::abort_again() noexcept {
  const std::lock_guard lock(mutex_);
  if (pin_ != nullptr) shared_->release();
}

std::string P2pLink::abort_reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

void P2pLink::share(std::unique_ptr<SharedWords> words, bool in_phases, bool shares_a_gpu) {
  std::unique_ptr<device::cuda::HostPin> pin;
  if (in_phases) pin = std::make_unique<device::cuda::HostPin>(words->data(), words->bytes());
  const std::lock_guard lock(mutex_);
  shared_ = std::move(words);
  pin_ = std::move(pin);
  if (pin_ != nullptr) ranks_ = reinterpret_cast<RankWords*>(pin_->on_device());
  shares_a_gpu_ = shares_a_gpu;
}

void P2pLink::abandon() noexcept {
  const std::lock_guard lock(mutex_);
  memory_.release();
  static_cast<void>(pin_.release());
  static_cast<void>(shared_.release());
}

void P2pLink::submitted(const Operation& operation) {
  if (shared_ != nullptr && needs_kernel(operation, world_)) shared_->submitted(operation);
}

void P2pLink::completed(const Operation& operation) {
  if (shared_ != nullptr && needs_kernel(operation, world_)) shared_->completed(operation);
}

// A kernel that waited by blocks, and gave up, knows for whom. One that has not given up was not even begun
// in time.
std::string P2pLink::why_late(const Operation& operation) const {
  if (shared_ == nullptr) return DeviceLink::why_late(operation);
  const bool in_phases = pin_ != nullptr, gave_up = trouble() == Trouble::timed_out;
  Late late{Cause::own_device, rank_};
  if (in_phases)
    late = shared_->late_in_phases(operation);
  else if (gave_up)
    late = shared_->late_peer(operation, peer());
  return fmt::format("{} ({}.)", text_of(late, shares_a_gpu_), shared_->progress(in_phases));
}

}  // namespace lockstep::comm::p2p
