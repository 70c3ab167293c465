#include "lockstep/report/model/display.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

namespace lockstep::report {
namespace {

struct Step {
  double divisor;
  const char* name;
};

constexpr std::array<Step, 5> kSeconds = {{{60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
constexpr std::array<Step, 5> kBytes = {
    {{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}}};
constexpr std::array<Step, 5> kRates = {
    {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};

template <std::size_t N>
DisplayUnit choose(const std::array<Step, N>& steps, double largest) {
  for (const Step& step : steps)
    if (largest >= step.divisor) return {step.divisor, step.name};
  return {steps.back().divisor, steps.back().name};
}

std::string with_thousands(const std::string& digits) {
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  std::string grouped;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > begin && (digits.size() - at) % 3 == 0) grouped += ',';
    grouped += digits[at];
  }
  return grouped;
}

// Rounded to two significant digits.
double two_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double place = std::pow(10, std::floor(std::log10(std::abs(value))) - 1);
  return std::round(value / place) * place;
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

DisplayUnit display_unit(std::string_view unit, double largest) {
  const double size = std::abs(largest);
  if (unit == "s")
    return size >= 600 ? DisplayUnit{60, "min"}
           : size == 0 ? DisplayUnit{1, "s"}
           : size >= 1 ? DisplayUnit{1, "s"}
                       : choose(kSeconds, size);
  if (unit == "B") return choose(kBytes, size);
  if (unit == "B/s") return choose(kRates, size);
  return {1, std::string(unit)};
}

std::string display_number(double value) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size >= 1000) return with_thousands(fmt::format("{:.0f}", value));
  if (size < 1e-4) return fmt::format("{:.2e}", value);
  const int decimals = std::max(0, 3 - static_cast<int>(std::floor(std::log10(size))));
  return without_trailing_zeros(fmt::format("{:.{}f}", value, decimals));
}

std::string display_exact(double value) {
  if (value != std::floor(value) || std::abs(value) > 9e15) return display_number(value);
  return with_thousands(fmt::format("{:.0f}", value));
}

std::string display(const Number& number, const DisplayUnit& unit, bool exact) {
  const auto text = [&](double value) {
    return exact ? display_exact(value / unit.divisor) : display_number(value / unit.divisor);
  };
  if (!number.interval || number.interval->low == number.interval->high) return text(number.value);
  const base::Interval& interval = *number.interval;
  const bool coarse = !exact && interval.high - interval.low >= std::abs(number.value) / 2;
  const auto end = [&](double value) {
    if (std::isinf(value)) return std::string("unbounded");
    const double rounded = unit.divisor * two_digits(value / unit.divisor);
    // Rounding must not move an end past the number that it bounds.
    const bool passes = (value <= number.value) != (rounded <= number.value);
    return text(coarse && !passes ? rounded : value);
  };
  return fmt::format("{} [{}, {}]", text(number.value), end(interval.low), end(interval.high));
}

std::string with_unit(const base::Interval& interval, std::string_view unit) {
  return fmt::format("[{}, {}]", with_unit(interval.low, unit),
                     std::isinf(interval.high) ? "unbounded" : with_unit(interval.high, unit));
}

std::string with_unit(double value, std::string_view unit) {
  const DisplayUnit shown = display_unit(unit, value);
  const std::string text = display_number(value / shown.divisor);
  return shown.name.empty() ? text : text + " " + shown.name;
}

std::string percent(double share) {
  const double value = 100 * share;
  return std::abs(value) >= 10 ? fmt::format("{:.0f} %", value) : fmt::format("{:.1f} %", value);
}

std::string exact_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  return fmt::format("{}", value);
}

}  // namespace lockstep::report
