// Bilinear resizing of one plane, in two passes with weights computed once.
//
// Pixel centres lie at half coordinates. Enlarging interpolates between two neighbours; reducing weighs every
// pixel under a triangle as wide as the reduction, so that nothing aliases.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::data {

class Resampler {
 public:
  Resampler(int from_height, int from_width, int to_height, int to_width);

  // plane: [from_height, from_width], out: [to_height, to_width], in the units of the plane. The scratch is
  // enlarged as needed and can be used again. Any number of threads may call with scratches of their own.
  void run(const std::uint8_t* plane, float* out, std::vector<float>& scratch) const;

 private:
  // What one output coordinate takes from the input: weights of `count` neighbours from `first` on.
  struct Tap {
    int first;
    int count;
    std::size_t weights_at;
  };
  struct Axis {
    std::vector<Tap> taps;
    std::vector<float> weights;
  };
  static Axis make_axis(int from, int to);
  void across(const std::uint8_t* plane, float* rows) const;
  void down(const float* rows, float* out) const;

  int from_height_;
  int from_width_;
  Axis vertical_;
  Axis horizontal_;
};

}  // namespace lockstep::data
