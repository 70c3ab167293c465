// Whether a cell learnt at all: divergence, instability, a loss that is that of guessing.
#pragma once

#include "lockstep/report/words/words.h"

namespace lockstep::report {

// Thresholds, documented in docs/reports.md.
inline constexpr double kRisen = 1.2;       // the last loss over the first epoch's: diverged
inline constexpr double kBurst = 10;        // the highest loss of any epoch over the first training loss
inline constexpr double kCameBack = 2;      // the last loss over the first training loss: no longer back
inline constexpr double kFarFromBest = 10;  // the last loss over the best cell's
inline constexpr double kNoFall = 0.9;      // ... that is still this share of its own first
inline constexpr double kGuessing = 0.98;   // of ln(classes): a loss of guessing
inline constexpr double kBetterThanGuessing = 1.2;  // times the accuracy of guessing: something was learnt

enum class Instability { diverged, unstable };

struct Divergence {
  Instability kind = Instability::diverged;
  std::string why;
  std::vector<Evidence> rests;
};

// Nothing where the losses say no such thing.
std::optional<Divergence> divergence_of(const Grid& grid, const GridCell& cell);

// Whether the cell's loss after a whole epoch or more, and its accuracy, are those of guessing.
bool did_not_learn(const Grid& grid, const GridCell& cell);

// What diverged, what was unstable, what learnt nothing, with what to try.
Sentences divergence_words(const Subject& subject);
// A part of it: losses that are those of guessing.
Sentences guessing_words(const Subject& subject);

}  // namespace lockstep::report
