#include "lockstep/comm/p2p/p2p_link.h"

#include <fmt/format.h>

#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"

namespace lockstep::comm::p2p {
namespace {

using Kind = base::CommError::Kind;

constexpr std::size_t kNotesOffset = 64;
constexpr std::size_t kNotes = 1024;
static_assert(sizeof(HostWords) <= kNotesOffset);

}  // namespace

P2pLink::P2pLink(int rank, base::Nanoseconds timeout)
    : rank_(rank),
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
      throw base::CommError(
          Kind::timed_out,
          fmt::format("rank {}: {} over p2p did not end within {}: rank {} did not come. Look at "
                      "its log; it may have ended, or be somewhere else in the program.",
                      rank_, what, base::format_duration(timeout_), peer()));
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
}

std::string P2pLink::abort_reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

}  // namespace lockstep::comm::p2p
