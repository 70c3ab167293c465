#include "lockstep/data/resampler.h"

#include <algorithm>
#include <cmath>

namespace lockstep::data {

Resampler::Resampler(int from_height, int from_width, int to_height, int to_width)
    : from_height_(from_height),
      from_width_(from_width),
      vertical_(make_axis(from_height, to_height)),
      horizontal_(make_axis(from_width, to_width)) {}

Resampler::Axis Resampler::make_axis(int from, int to) {
  const double scale = static_cast<double>(from) / to;
  const double reach = std::max(1.0, scale);
  Axis axis;
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(centre - reach)));
    const int end = std::min(from, static_cast<int>(std::ceil(centre + reach)));
    std::vector<double> weights;
    double sum = 0;
    for (int j = first; j < end; ++j) {
      weights.push_back(std::max(0.0, 1 - std::abs(j + 0.5 - centre) / reach));
      sum += weights.back();
    }
    axis.taps.push_back({first, end - first, axis.weights.size()});
    for (const double weight : weights) axis.weights.push_back(static_cast<float>(weight / sum));
  }
  return axis;
}

void Resampler::run(const std::uint8_t* plane, float* out, std::vector<float>& scratch) const {
  scratch.resize(static_cast<std::size_t>(from_height_) * horizontal_.taps.size());
  across(plane, scratch.data());
  down(scratch.data(), out);
}

void Resampler::across(const std::uint8_t* plane, float* rows) const {
  for (int y = 0; y < from_height_; ++y, plane += from_width_) {
    for (const Tap& tap : horizontal_.taps) {
      const float* weights = horizontal_.weights.data() + tap.weights_at;
      float sum = 0;
      for (int k = 0; k < tap.count; ++k) sum += weights[k] * static_cast<float>(plane[tap.first + k]);
      *rows++ = sum;
    }
  }
}

void Resampler::down(const float* rows, float* out) const {
  const std::size_t width = horizontal_.taps.size();
  for (const Tap& tap : vertical_.taps) {
    const float* weights = vertical_.weights.data() + tap.weights_at;
    std::fill(out, out + width, 0.0f);
    for (int k = 0; k < tap.count; ++k) {
      const float* row = rows + static_cast<std::size_t>(tap.first + k) * width;
      for (std::size_t x = 0; x < width; ++x) out[x] += weights[k] * row[x];
    }
    out += width;
  }
}

}  // namespace lockstep::data
