#include "lockstep/measure/memory_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "lockstep/base/units.h"

namespace lockstep::measure {
namespace {

constexpr std::array<std::string_view, kUseCount> kUseNames = {
    "parameters", "gradients", "buckets", "optimizer", "activations", "communication", "other"};

thread_local std::optional<Use> use_of_this_thread;

[[noreturn]] void refuse(Use use, std::uint64_t bytes, std::uint64_t in_use, const BytesByUse& by_use,
                         std::uint64_t cap_bytes) {
  throw OutOfMemory(
      in_use + bytes, cap_bytes,
      fmt::format("out of memory: {} more for {} do not fit into this worker's {}; {} are in use ({}).",
                  base::format_bytes(bytes), name_of(use), base::format_bytes(cap_bytes),
                  base::format_bytes(in_use), describe(by_use)));
}

}  // namespace

std::string_view name_of(Use use) {
  return kUseNames[static_cast<std::size_t>(use)];
}

std::string describe(const BytesByUse& by_use) {
  std::string text;
  for (std::size_t i = 0; i < by_use.size(); ++i)
    if (by_use[i] > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kUseNames[i], base::format_bytes(by_use[i]));
  return text.empty() ? "nothing" : text;
}

void MemoryAccount::add(Use use, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (cap_bytes_ && (bytes > *cap_bytes_ || in_use_ > *cap_bytes_ - bytes))
    refuse(use, bytes, in_use_, by_use_, *cap_bytes_);
  count(use, bytes);
}

void MemoryAccount::note(Use use, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  count(use, bytes);
}

void MemoryAccount::count(Use use, std::uint64_t bytes) noexcept {
  by_use_[static_cast<std::size_t>(use)] += bytes;
  in_use_ += bytes;
  if (in_use_ > peak_bytes_) {
    peak_bytes_ = in_use_;
    by_use_at_peak_ = by_use_;
  }
}

// More than there is would make the account wrap round, and every later add fail: it takes what there is.
void MemoryAccount::remove(Use use, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  std::uint64_t& held = by_use_[static_cast<std::size_t>(use)];
  const std::uint64_t taken = std::min(held, bytes);
  held -= taken;
  in_use_ -= taken;
}

void MemoryAccount::move(Use from, Use to, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  std::uint64_t& held = by_use_[static_cast<std::size_t>(from)];
  const std::uint64_t moved = std::min(held, bytes);
  held -= moved;
  by_use_[static_cast<std::size_t>(to)] += moved;
}

std::uint64_t MemoryAccount::in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

BytesByUse MemoryAccount::by_use() const {
  const std::lock_guard lock(mutex_);
  return by_use_;
}

std::uint64_t MemoryAccount::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

BytesByUse MemoryAccount::by_use_at_peak() const {
  const std::lock_guard lock(mutex_);
  return by_use_at_peak_;
}

void MemoryAccount::restart_peak() {
  const std::lock_guard lock(mutex_);
  peak_bytes_ = in_use_;
  by_use_at_peak_ = by_use_;
}

Reservation::Reservation(MemoryAccount& account, Use use, std::uint64_t bytes) : use_(use), bytes_(bytes) {
  account.add(use, bytes);
  account_ = &account;
}

Reservation::~Reservation() {
  if (account_ != nullptr) account_->remove(use_, bytes_);
}

Reservation::Reservation(Reservation&& other) noexcept
    : account_(std::exchange(other.account_, nullptr)), use_(other.use_), bytes_(other.bytes_) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  std::swap(account_, other.account_);
  std::swap(use_, other.use_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

UseScope::UseScope(Use use) : before_(use_of_this_thread) {
  use_of_this_thread = use;
}

UseScope::~UseScope() {
  use_of_this_thread = before_;
}

Use UseScope::current() {
  return use_of_this_thread.value_or(Use::other);
}

std::optional<Use> UseScope::own() {
  return use_of_this_thread;
}

}  // namespace lockstep::measure
