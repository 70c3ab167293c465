#include "lockstep/base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::base {
namespace {

struct Quantity {
  double value;
  std::string unit;
};

// Splits "1.5MiB" into 1.5 and "MiB"; nothing when it does not start with a finite, non-negative number.
std::optional<Quantity> split_quantity(std::string_view text) {
  const std::string trimmed = trim(text);
  Quantity quantity{};
  const char* end = trimmed.data() + trimmed.size();
  const auto [rest, error] = std::from_chars(trimmed.data(), end, quantity.value);
  if (error != std::errc() || !std::isfinite(quantity.value) || std::signbit(quantity.value))
    return std::nullopt;
  quantity.unit = trim(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  return quantity;
}

std::optional<double> binary_multiplier(std::string unit) {
  if (unit.ends_with("iB"))
    unit.resize(unit.size() - 2);
  else if (unit.ends_with("B"))
    unit.resize(unit.size() - 1);
  if (unit.empty()) return 1.0;
  if (unit.size() != 1) return std::nullopt;
  switch (unit[0]) {
    case 'k':
    case 'K':
      return 1024.0;
    case 'm':
    case 'M':
      return 1024.0 * 1024.0;
    case 'g':
    case 'G':
      return 1024.0 * 1024.0 * 1024.0;
    case 't':
    case 'T':
      return 1024.0 * 1024.0 * 1024.0 * 1024.0;
    default:
      return std::nullopt;
  }
}

std::optional<double> seconds_of(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1.0;
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "m" || unit == "min") return 60.0;
  if (unit == "h") return 3600.0;
  return std::nullopt;
}

// The value with three significant digits: 1.23, 12.3, 123.
std::string three_digits(double value) {
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  constexpr double kMost = 9.0e18;
  const auto quantity = split_quantity(text);
  const auto multiplier = quantity ? binary_multiplier(quantity->unit) : std::nullopt;
  if (!multiplier || quantity->value * *multiplier > kMost)
    throw UsageError(fmt::format(
        "'{}' is not a size. Write bytes, or a number with K, M, G, KiB, MiB or GiB: 44.7M.", text));
  return static_cast<std::uint64_t>(std::llround(quantity->value * *multiplier));
}

Nanoseconds parse_duration(std::string_view text) {
  constexpr double kMostSeconds = 1e9;
  const auto quantity = split_quantity(text);
  const auto seconds = quantity ? seconds_of(quantity->unit) : std::nullopt;
  if (!seconds || quantity->value * *seconds > kMostSeconds)
    throw UsageError(
        fmt::format("'{}' is not a duration. Write seconds, or a number with ms, s, m or h: 250ms.", text));
  return from_seconds(quantity->value * *seconds);
}

double parse_bytes_per_second(std::string_view text) {
  std::string rate = trim(text);
  if (rate.ends_with("/s")) rate.resize(rate.size() - 2);
  return static_cast<double>(parse_bytes(rate));
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string format_duration(Nanoseconds duration) {
  const double nanoseconds = static_cast<double>(duration.count());
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return three_digits(nanoseconds / 1e3) + " µs";
  if (nanoseconds < 1e9) return three_digits(nanoseconds / 1e6) + " ms";
  return three_digits(nanoseconds / 1e9) + " s";
}

std::string format_rate(double bytes_per_second) {
  return three_digits(bytes_per_second / 1e9) + " GB/s";
}

}  // namespace lockstep::base
