#include "lockstep/report/svg/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/report/svg/element.h"

namespace lockstep::report {
namespace {

double round_step(double raw) {
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0})
    if (raw <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

double extent(const Tick& tick, bool horizontal) {
  return horizontal ? text_width(tick.text, kTickPixels) + 6 : kTickPixels + 6;
}

bool too_close(const std::vector<Tick>& ticks, const Scale& scale, bool horizontal) {
  for (std::size_t i = 0; i + 1 < ticks.size(); ++i) {
    const double distance = std::abs(scale.at(ticks[i + 1].value) - scale.at(ticks[i].value));
    if (distance < (extent(ticks[i], horizontal) + extent(ticks[i + 1], horizontal)) / 2) return true;
  }
  return false;
}

// Leaves out every second one, the last one kept last.
std::vector<Tick> thinned(std::vector<Tick> ticks) {
  std::vector<Tick> kept;
  for (std::size_t i = ticks.size() - 1;; i -= 2) {
    kept.insert(kept.begin(), ticks[i]);
    if (i < 2) break;
  }
  return kept;
}

// As numbers are written elsewhere; with more digits where neighbours would read the same.
std::vector<std::string> tick_texts(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(display_number(value));
  for (int digits = 1; digits <= 9 && std::adjacent_find(texts.begin(), texts.end()) != texts.end(); ++digits)
    std::transform(values.begin(), values.end(), texts.begin(),
                   [digits](double value) { return fmt::format("{:.{}f}", value, digits); });
  return texts;
}

}  // namespace

double Scale::at(double value) const {
  const double share = log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                           : (value - low) / (high - low);
  return from_pixel + share * (to_pixel - from_pixel);
}

std::vector<double> round_ticks(double low, double high, int count) {
  const double step = round_step((high - low) / count);
  std::vector<double> ticks;
  for (double at = std::ceil(low / step - 1e-9); at * step <= high + 1e-9 * step; ++at)
    ticks.push_back(at == 0 ? 0 : at * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  std::vector<double> ticks;
  const bool wide = std::log10(high / low) >= 2;
  for (double power = std::floor(std::log10(low)); power <= std::ceil(std::log10(high)); ++power)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = factor * std::pow(10, power);
      if ((factor == 1 || !wide) && at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9)) ticks.push_back(at);
    }
  return ticks;
}

AxisRange range_for(std::vector<double> values, bool log, bool from_zero) {
  if (values.empty()) return {log ? 1.0 : 0.0, log ? 10.0 : 1.0};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  double low = *least, high = *most;
  if (log) return low == high ? AxisRange{low / 2, high * 2} : AxisRange{low / 1.15, high * 1.15};
  if (low >= 0 && (from_zero || low < 0.6 * high)) low = 0;
  if (low == high)
    return low == 0 ? AxisRange{0, 1} : AxisRange{low - std::abs(low) / 10, high + std::abs(high) / 10};
  const double margin = 0.06 * (high - low);
  return {low == 0 ? 0 : low - margin, high + margin};
}

std::vector<Tick> ticks_for(const Scale& scale, const DisplayUnit& unit, bool horizontal,
                            const std::vector<double>& wanted) {
  std::vector<double> shown = wanted;  // in the unit
  for (double& value : shown) value /= unit.divisor;
  if (shown.empty()) {
    const double low = scale.low / unit.divisor, high = scale.high / unit.divisor;
    shown = scale.log ? log_ticks(low, high) : round_ticks(low, high, 5);
  }
  const std::vector<std::string> texts = tick_texts(shown);
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < shown.size(); ++i) ticks.push_back({shown[i] * unit.divisor, texts[i]});
  while (ticks.size() > 2 && too_close(ticks, scale, horizontal)) ticks = thinned(ticks);
  if (ticks.size() == 2 && too_close(ticks, scale, horizontal)) ticks.erase(ticks.begin());
  return ticks;
}

}  // namespace lockstep::report
