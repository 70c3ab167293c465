// Frames of a winding road as a car's camera sees it, with the angle that brings the car back to its middle.
//
// Terms: v is 0 at the horizon and 1 at the bottom of the frame. The road's middle bends with the square of
// the distance (curvature), leans with the car's heading, and is shifted near the car by its offset in the
// lane.
#include <algorithm>
#include <array>
#include <cmath>

#include "lockstep/base/keyed_random.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

using base::KeyedRandom;
using base::RandomStream;
using Colour = std::array<float, 3>;

constexpr std::size_t kTrainFrames = 2000;
constexpr std::size_t kValidationFrames = 400;

struct Scene {
  float curvature, heading, offset;
  float horizon;  // of the frame's height
  float light;
  float dash_phase;
  Colour sky, grass, asphalt;
};

Colour near_colour(KeyedRandom& random, Colour colour) {
  for (float& part : colour) part += random.between(-0.06f, 0.06f);
  return colour;
}

Scene draw_scene(KeyedRandom& random) {
  Scene scene;
  scene.curvature = random.between(-1, 1);
  scene.heading = random.between(-0.5f, 0.5f);
  scene.offset = random.between(-0.5f, 0.5f);
  scene.horizon = random.between(0.3f, 0.42f);
  scene.light = random.between(0.7f, 1.1f);
  scene.dash_phase = random.between(0, 1);
  scene.sky = near_colour(random, {0.55f, 0.7f, 0.9f});
  scene.grass = near_colour(random, {0.3f, 0.5f, 0.2f});
  scene.asphalt = near_colour(random, {0.4f, 0.4f, 0.42f});
  return scene;
}

float steering_angle(const Scene& scene) {
  const float angle = 0.55f * scene.curvature + 0.5f * scene.heading - 0.3f * scene.offset;
  return std::clamp(angle, -1.0f, 1.0f);
}

// The colour at u (0 left, 1 right) and v below the horizon.
Colour ground(const Scene& scene, float u, float v) {
  constexpr Colour kPaint = {0.95f, 0.95f, 0.9f};
  const float far = 1 - v;
  const float middle =
      0.5f + 0.3f * scene.curvature * far * far + 0.25f * scene.heading * far - 0.2f * scene.offset * v;
  const float half_width = 0.03f + 0.32f * v;
  const float across = (u - middle) / half_width;  // -1 and 1 at the road's edges
  if (std::abs(across) > 1) return scene.grass;
  if (std::abs(across) > 0.9f) return kPaint;
  const float distance = 1 / (v + 0.08f);
  const bool dash = std::fmod(distance * 1.5f + scene.dash_phase, 1.0f) < 0.5f;
  return std::abs(across) < 0.05f && dash ? kPaint : scene.asphalt;
}

void draw_frame(KeyedRandom& random, const Scene& scene, const ImageShape& shape, std::uint8_t* out) {
  const std::size_t pixels = shape.pixels();
  std::size_t at = 0;
  for (int y = 0; y < shape.height; ++y) {
    const float height = (static_cast<float>(y) + 0.5f) / static_cast<float>(shape.height);
    const float v = (height - scene.horizon) / (1 - scene.horizon);
    for (int x = 0; x < shape.width; ++x, ++at) {
      const float u = (static_cast<float>(x) + 0.5f) / static_cast<float>(shape.width);
      const Colour colour = v < 0 ? scene.sky : ground(scene, u, v);
      const float grain = random.between(-0.05f, 0.05f);
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const float value = std::clamp(colour[channel] * scene.light + grain, 0.0f, 1.0f);
        out[channel * pixels + at] = static_cast<std::uint8_t>(value * 255);
      }
    }
  }
}

}  // namespace

SampleSet draw_road(const SetRequest& request) {
  const bool train = request.split == Split::train;
  const std::size_t count = request.samples.value_or(train ? kTrainFrames : kValidationFrames);
  const ImageShape shape = request.entry->shape;
  SampleSet set;
  set.task = record::Task::steering;
  std::vector<std::uint8_t> pixels(count * shape.elements());
  for (std::size_t i = 0; i < count; ++i) {
    KeyedRandom random(RandomStream::content, {request.seed, train ? 2u : 3u, i});
    const Scene scene = draw_scene(random);
    draw_frame(random, scene, shape, pixels.data() + i * shape.elements());
    set.values.push_back(steering_angle(scene));
  }
  set.images = ImageStore(shape, std::move(pixels));
  return set;
}

}  // namespace lockstep::data
