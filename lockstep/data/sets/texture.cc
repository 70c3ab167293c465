// Photographs of nothing: gratings, discs and shades with sharp edges between them, so that there is
// something to tell from noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "lockstep/base/keyed_random.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

using base::KeyedRandom;
using base::RandomStream;
using Colour = std::array<float, 3>;

constexpr int kPatchesAcross = 2;  // patches of a photograph, along each side
constexpr std::size_t kTrainPhotos = 256;
constexpr std::size_t kValidationPhotos = 32;
constexpr int kShapes = 6;

Colour draw_colour(KeyedRandom& random) {
  return {random.between(0.1f, 0.9f), random.between(0.1f, 0.9f), random.between(0.1f, 0.9f)};
}

// A region of the plane, and the grating that fills it.
struct Region {
  bool disc;
  float x, y, radius;           // of a disc
  float normal_x, normal_y;     // of a half-plane through x, y
  float wave_x, wave_y, phase;  // of the grating
  float depth;                  // its contrast
  Colour colour;
};

Region draw_region(KeyedRandom& random) {
  constexpr float kTurn = 2 * std::numbers::pi_v<float>;
  const float facing = random.between(0, kTurn);
  const float along = random.between(0, kTurn);
  const float waves = random.between(6, 60);
  Region region;
  region.disc = random.coin();
  region.x = random.uniform();
  region.y = random.uniform();
  region.radius = random.between(0.08f, 0.4f);
  region.normal_x = std::cos(facing);
  region.normal_y = std::sin(facing);
  region.wave_x = waves * std::cos(along);
  region.wave_y = waves * std::sin(along);
  region.phase = random.between(0, kTurn);
  region.depth = random.between(0, 0.35f);
  region.colour = draw_colour(random);
  return region;
}

bool covers(const Region& region, float x, float y) {
  const float dx = x - region.x;
  const float dy = y - region.y;
  if (region.disc) return dx * dx + dy * dy < region.radius * region.radius;
  return dx * region.normal_x + dy * region.normal_y > 0;
}

Image draw_photo(KeyedRandom& random, const ImageShape& shape) {
  std::vector<Region> regions;
  for (int i = 0; i < kShapes; ++i) regions.push_back(draw_region(random));
  Image photo{shape, std::vector<std::uint8_t>(shape.elements())};
  std::size_t at = 0;
  for (int row = 0; row < shape.height; ++row) {
    for (int column = 0; column < shape.width; ++column, ++at) {
      const float x = static_cast<float>(column) / static_cast<float>(shape.width);
      const float y = static_cast<float>(row) / static_cast<float>(shape.height);
      const Region* top = &regions.front();
      for (const Region& region : regions) top = covers(region, x, y) ? &region : top;
      const float shade = top->depth * std::sin(top->wave_x * x + top->wave_y * y + top->phase);
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const float value = std::clamp(top->colour[channel] + shade, 0.0f, 1.0f);
        photo.pixels[channel * shape.pixels() + at] = static_cast<std::uint8_t>(value * 255);
      }
    }
  }
  return photo;
}

}  // namespace

SampleSet draw_texture(const SetRequest& request) {
  const bool train = request.split == Split::train;
  constexpr std::size_t kPatches = kPatchesAcross * kPatchesAcross;
  const std::size_t photos = request.samples ? (*request.samples + kPatches - 1) / kPatches
                                             : (train ? kTrainPhotos : kValidationPhotos);
  const ImageShape shape{3, kPatchesAcross * request.input.height, kPatchesAcross * request.input.width};
  SampleSet set;
  set.task = record::Task::restoration;
  set.images.reserve(photos, shape);
  for (std::size_t i = 0; i < photos; ++i) {
    KeyedRandom random(RandomStream::content, {request.seed, train ? 4u : 5u, i});
    set.images.add(draw_photo(random, shape));
  }
  add_patch_grid(set, request.input.height, request.input.width);
  return set;
}

}  // namespace lockstep::data
