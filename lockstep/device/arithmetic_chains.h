// Chains of multiply-adds that depend only on themselves: enough of them to keep every pipe of a core busy.
#pragma once

#include <vector>

namespace lockstep::device {

inline constexpr int kChains = 10;  // at least latency times pipes, and few enough for the registers

// One compiled copy, of one width of vectors.
struct ArithmeticChains {
  int vector_bytes;
  // Does `rounds` multiply-adds in each chain, and returns a value that depends on all of them.
  double (*run_f32)(long rounds);
  double (*run_f64)(long rounds);
};

// The copies that this processor can run.
std::vector<ArithmeticChains> usable_chains();

}  // namespace lockstep::device
