// The memory of one worker, by use, with an optional cap.
//
// Whoever allocates on the worker's device reports here: the tensor allocator, the communicator's buffers,
// staging. A report that would exceed the cap throws and changes nothing. At every new peak the split by use
// of that instant is kept, so that it sums to the peak.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "lockstep/base/error.h"

namespace lockstep::measure {

enum class Use { parameters, gradients, buckets, optimizer, activations, communication, other };
inline constexpr int kUseCount = 7;
std::string_view name_of(Use use);

using BytesByUse = std::array<std::uint64_t, kUseCount>;
// "parameters 1.0 MiB, activations 12 MiB".
std::string describe(const BytesByUse& by_use);

// The cap is reached. The run's status becomes out_of_memory.
class OutOfMemory : public base::Error {
 public:
  OutOfMemory(std::uint64_t needed_bytes, std::uint64_t cap_bytes, const std::string& message)
      : Error(base::ExitCode::run_failed, message), needed_bytes_(needed_bytes), cap_bytes_(cap_bytes) {}
  std::uint64_t needed_bytes() const { return needed_bytes_; }
  std::uint64_t cap_bytes() const { return cap_bytes_; }

 private:
  std::uint64_t needed_bytes_;  // in use, and what was asked for
  std::uint64_t cap_bytes_;
};

// Any thread may call.
class MemoryAccount {
 public:
  explicit MemoryAccount(std::optional<std::uint64_t> cap_bytes = {}) : cap_bytes_(cap_bytes) {}

  // Throws OutOfMemory that says what was asked for, what is in use and for what, and the cap.
  void add(Use use, std::uint64_t bytes);
  // For memory that is taken already, by somebody whose limit is elsewhere: the cap is not asked.
  void note(Use use, std::uint64_t bytes) noexcept;
  void remove(Use use, std::uint64_t bytes) noexcept;
  // The same bytes are used for something else now; what is in use stays.
  void move(Use from, Use to, std::uint64_t bytes) noexcept;

  std::uint64_t in_use() const;
  BytesByUse by_use() const;
  std::uint64_t peak_bytes() const;
  BytesByUse by_use_at_peak() const;
  std::optional<std::uint64_t> cap_bytes() const { return cap_bytes_; }
  // Forgets the peak: what is in use now becomes it.
  void restart_peak();

 private:
  void count(Use use, std::uint64_t bytes) noexcept;

  const std::optional<std::uint64_t> cap_bytes_;
  mutable std::mutex mutex_;
  BytesByUse by_use_{};
  std::uint64_t in_use_ = 0;
  BytesByUse by_use_at_peak_{};
  std::uint64_t peak_bytes_ = 0;
};

// Bytes that are counted for as long as this lives: memory whose owner does not report itself.
class Reservation {
 public:
  Reservation() = default;
  // Throws OutOfMemory. The account outlives the reservation.
  Reservation(MemoryAccount& account, Use use, std::uint64_t bytes);
  ~Reservation();
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;

 private:
  MemoryAccount* account_ = nullptr;
  Use use_ = Use::other;
  std::uint64_t bytes_ = 0;
};

// What allocations of this thread are for until the scope ends, for those who are not told by the caller (the
// tensor allocator). Without a scope: other.
class UseScope {
 public:
  explicit UseScope(Use use);
  ~UseScope();
  UseScope(const UseScope&) = delete;
  UseScope& operator=(const UseScope&) = delete;
  static Use current();
  // Empty: no scope is open.
  static std::optional<Use> own();

 private:
  std::optional<Use> before_;
};

}  // namespace lockstep::measure
