// From a decoded sample to what a model is fed: resize, random crop and flip, grey to three channels,
// normalise; for restoration, cut a patch and add noise.
//
// Everything random is keyed by seed, epoch and the sample's index in the set: it does not depend on the
// number of workers, on threads or on the order of steps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lockstep/data/resampler.h"
#include "lockstep/data/sample_set.h"

namespace lockstep::data {

struct TransformOptions {
  ImageShape input;  // what the model is fed
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> deviation = {1, 1, 1};
  bool crop = false;      // shift by up to an eighth of the side, black coming in
  bool flip = false;      // mirror every other image; a steering angle changes its sign
  bool jitter = false;    // restoration: cut patches anywhere instead of on the grid
  float noise_sigma = 0;  // restoration: of intensities in [0, 1]
  std::uint64_t seed = 0;
};

// Where one sample goes. The target that the set's task has no use for is null.
struct SampleSlot {
  float* input;         // [channels, height, width]
  std::int64_t* label;  // classification
  float* target;        // steering: one; restoration: the clean patch, like the input
};

class Transform {
 public:
  // Memory that a thread uses again from sample to sample.
  struct Scratch {
    std::vector<float> plane;
    std::vector<float> rows;
  };

  // Throws DataError when the set cannot be brought to the input's shape.
  Transform(const SampleSet& set, const TransformOptions& options);

  // Any number of threads may call with scratches of their own.
  void write(const SampleSet& set, std::uint32_t sample, std::uint64_t epoch, const SampleSlot& slot,
             Scratch& scratch) const;

  const ImageShape& input() const { return options_.input; }

 private:
  // What chance decided for one sample.
  struct Change {
    int down = 0;  // the window's offset in the source: negative shifts bring in black
    int right = 0;
    bool flip = false;
  };
  Change draw_change(std::uint32_t sample, std::uint64_t epoch) const;
  PatchOrigin draw_patch(const SampleSet& set, std::uint32_t sample, std::uint64_t epoch, bool& flip) const;

  void write_image(const ImageView& image, const Change& change, float* out, Scratch& scratch) const;
  void write_restoration(const SampleSet& set, std::uint32_t sample, std::uint64_t epoch,
                         const SampleSlot& slot) const;
  template <class Pixel>
  void write_plane(const Pixel* plane, const Change& change, int channel, float* out) const;

  TransformOptions options_;
  std::array<float, 3> scale_{};
  std::array<float, 3> bias_{};
  std::optional<Resampler> resampler_;
};

}  // namespace lockstep::data
