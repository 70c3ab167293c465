// Two runs or two studies beside each other: which figures differ, by how much, and whether by more than the
// noise.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/lab/repeat_interval.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/record/record.h"

namespace lockstep::lab {

struct ComparedFigure {
  const RunFigure* figure = nullptr;
  std::size_t count_a = 0, count_b = 0;  // values behind it
  bool of_steps = false;                 // of the steps of one run each, for want of repeats
  Difference difference;
  std::optional<double> relative() const;  // difference over A; nothing where A is 0
  // By how much B is worse than A, relative; negative: better. Nothing where neither way is better.
  std::optional<double> worse() const;
  // Whether there is a difference beyond the noise; nothing where nobody knows the noise, of single runs.
  // Bytes have none.
  std::optional<bool> differs() const;
  // A has a number and B has none, where one way is better: the worst that can become of a figure.
  bool lost() const;
  // Worse by more than this share, and by more than the noise; or lost.
  bool misses(double threshold) const;
  // Worse by more than this share, but nobody knows the noise: a side has one run, or a figure is not finite.
  bool undecided(double threshold) const;
};

// A field of the spec that the two sides have no value of in common, as text.
struct DifferingField {
  std::string name, a, b;
  bool operator==(const DifferingField&) const = default;
};

struct ComparedCell {
  std::string cell;  // empty for two runs
  std::vector<ComparedFigure> figures;
  std::string only_in;                         // "A" or "B" where the other has no such cell
  std::vector<DifferingField> differing = {};  // what else may have made the difference
};

// Cells of the same name beside each other. Two sides that are one spec each are compared whatever their
// cells are called. Only finished runs count; only named figures where names are given.
std::vector<ComparedCell> compare(std::span<const record::RunRecord> a, std::span<const record::RunRecord> b,
                                  const std::vector<std::string>& figures);

}  // namespace lockstep::lab
