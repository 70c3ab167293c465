// Digits drawn with a shaking pen: each is a few strokes, moved, turned, sheared and thickened by chance.
#include <algorithm>
#include <array>
#include <cmath>

#include "lockstep/base/keyed_random.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

using base::KeyedRandom;
using base::RandomStream;

constexpr std::size_t kTrainSamples = 10000;
constexpr std::size_t kValidationSamples = 2000;

struct Point {
  float x;
  float y;
};
using Strokes = std::vector<std::vector<Point>>;

// In a box of width and height 1, y downwards.
const std::array<Strokes, 10>& glyphs() {
  static const std::array<Strokes, 10> kGlyphs = {{
      {{{.5f, 0}, {.15f, .25f}, {.15f, .75f}, {.5f, 1}, {.85f, .75f}, {.85f, .25f}, {.5f, 0}}},
      {{{.3f, .2f}, {.55f, 0}, {.55f, 1}}},
      {{{.15f, .25f}, {.4f, 0}, {.75f, .1f}, {.8f, .35f}, {.15f, 1}, {.85f, 1}}},
      {{{.15f, .1f}, {.5f, 0}, {.8f, .2f}, {.45f, .45f}, {.85f, .7f}, {.55f, 1}, {.15f, .88f}}},
      {{{.65f, 1}, {.65f, 0}, {.1f, .65f}, {.9f, .65f}}},
      {{{.8f, 0}, {.25f, 0}, {.2f, .45f}, {.6f, .4f}, {.85f, .68f}, {.6f, 1}, {.15f, .92f}}},
      {{{.7f, 0}, {.3f, .35f}, {.15f, .7f}, {.4f, 1}, {.75f, .95f}, {.8f, .65f}, {.5f, .5f}, {.2f, .65f}}},
      {{{.1f, 0}, {.9f, 0}, {.4f, 1}}, {{.35f, .5f}, {.8f, .5f}}},
      {{{.5f, .45f},
        {.2f, .22f},
        {.5f, 0},
        {.8f, .22f},
        {.5f, .45f},
        {.15f, .75f},
        {.5f, 1},
        {.85f, .75f},
        {.5f, .45f}}},
      {{{.8f, .35f}, {.5f, .5f}, {.2f, .3f}, {.45f, 0}, {.8f, .15f}, {.8f, .5f}, {.6f, 1}}},
  }};
  return kGlyphs;
}

// The pen's hand for one digit.
struct Hand {
  float centre_x, centre_y, width, height, cosine, sine, shear, thickness, ink;
};

Hand draw_hand(KeyedRandom& random, float side) {
  const float angle = random.between(-0.3f, 0.3f);
  return {side * random.between(0.42f, 0.58f),
          side * random.between(0.42f, 0.58f),
          side * random.between(0.35f, 0.6f),
          side * random.between(0.5f, 0.72f),
          std::cos(angle),
          std::sin(angle),
          random.between(-0.3f, 0.3f),
          side * random.between(0.03f, 0.06f),
          random.between(0.7f, 1.0f)};
}

Point placed(const Point& point, const Hand& hand, KeyedRandom& random) {
  constexpr float kShake = 0.04f;
  const float y = (point.y - 0.5f + random.between(-kShake, kShake)) * hand.height;
  const float x = (point.x - 0.5f + random.between(-kShake, kShake)) * hand.width - hand.shear * y;
  return {hand.centre_x + hand.cosine * x - hand.sine * y, hand.centre_y + hand.sine * x + hand.cosine * y};
}

float distance_to_segment(const Point& p, const Point& a, const Point& b) {
  const float dx = b.x - a.x;
  const float dy = b.y - a.y;
  const float length_squared = dx * dx + dy * dy;
  const float along = length_squared > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length_squared : 0;
  const float t = std::clamp(along, 0.0f, 1.0f);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// Darkens what a segment's pen covers; only the pixels near it are looked at.
void draw_segment(std::vector<float>& canvas, int side, const Point& a, const Point& b, const Hand& hand) {
  const float reach = hand.thickness + 1;
  const int top = std::max(0, static_cast<int>(std::min(a.y, b.y) - reach));
  const int bottom = std::min(side - 1, static_cast<int>(std::max(a.y, b.y) + reach));
  const int left = std::max(0, static_cast<int>(std::min(a.x, b.x) - reach));
  const int right = std::min(side - 1, static_cast<int>(std::max(a.x, b.x) + reach));
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const Point pixel{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f};
      const float cover = std::clamp(hand.thickness + 0.5f - distance_to_segment(pixel, a, b), 0.0f, 1.0f);
      float& value = canvas[static_cast<std::size_t>(y * side + x)];
      value = std::max(value, cover * hand.ink);
    }
  }
}

void draw_digit(KeyedRandom& random, int digit, int side, std::uint8_t* out) {
  std::vector<float> canvas(static_cast<std::size_t>(side * side), 0.0f);
  const Hand hand = draw_hand(random, static_cast<float>(side));
  for (const auto& stroke : glyphs()[static_cast<std::size_t>(digit)]) {
    std::optional<Point> before;
    for (const Point& point : stroke) {
      const Point here = placed(point, hand, random);
      if (before) draw_segment(canvas, side, *before, here, hand);
      before = here;
    }
  }
  for (const float value : canvas) {
    const float noisy = value + random.between(-0.06f, 0.06f);
    *out++ = static_cast<std::uint8_t>(std::clamp(noisy, 0.0f, 1.0f) * 255);
  }
}

}  // namespace

SampleSet draw_digits(const SetRequest& request) {
  const bool train = request.split == Split::train;
  const std::size_t count = request.samples.value_or(train ? kTrainSamples : kValidationSamples);
  const ImageShape shape = request.entry->shape;
  SampleSet set;
  set.classes = request.entry->classes;
  set.class_names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  std::vector<std::uint8_t> pixels(count * shape.elements());
  for (std::size_t i = 0; i < count; ++i) {
    KeyedRandom random(RandomStream::content, {request.seed, train ? 0u : 1u, i});
    const int digit = static_cast<int>(random.below(10));
    draw_digit(random, digit, shape.height, pixels.data() + i * shape.elements());
    set.labels.push_back(digit);
  }
  set.images = ImageStore(shape, std::move(pixels));
  return set;
}

}  // namespace lockstep::data
