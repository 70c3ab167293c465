#include "lockstep/predict/least_squares.h"

#include <cmath>
#include <limits>
#include <optional>

namespace lockstep::predict {
namespace {

using Matrix = std::vector<std::vector<double>>;  // [terms in use][terms in use + 1]: normal equations

double weight_of(const Observation& observation) {
  return observation.value > 0 ? 1 / observation.value : 1;
}

Matrix normal_equations(std::span<const Observation> observations, const std::vector<std::size_t>& used) {
  Matrix matrix(used.size(), std::vector<double>(used.size() + 1, 0.0));
  for (const Observation& observation : observations) {
    const double weight = weight_of(observation) * weight_of(observation);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const double left = weight * observation.terms[used[i]];
      for (std::size_t j = 0; j < used.size(); ++j) matrix[i][j] += left * observation.terms[used[j]];
      matrix[i].back() += left * observation.value;
    }
  }
  return matrix;
}

// Gauss and Jordan; nothing when the equations do not determine the solution.
std::optional<std::vector<double>> solve(Matrix matrix) {
  const std::size_t count = matrix.size();
  std::vector<double> scale(count);
  for (std::size_t i = 0; i < count; ++i) scale[i] = std::abs(matrix[i][i]);
  for (std::size_t pivot = 0; pivot < count; ++pivot) {
    if (std::abs(matrix[pivot][pivot]) <= 1e-9 * scale[pivot] || scale[pivot] == 0) return std::nullopt;
    for (std::size_t row = 0; row < count; ++row) {
      if (row == pivot) continue;
      const double factor = matrix[row][pivot] / matrix[pivot][pivot];
      for (std::size_t column = pivot; column <= count; ++column)
        matrix[row][column] -= factor * matrix[pivot][column];
    }
  }
  std::vector<double> solution(count);
  for (std::size_t i = 0; i < count; ++i) solution[i] = matrix[i].back() / matrix[i][i];
  return solution;
}

double error_of(std::span<const Observation> observations, const std::vector<double>& coefficients) {
  double squares = 0;
  for (const Observation& observation : observations) {
    double predicted = 0;
    for (std::size_t i = 0; i < coefficients.size(); ++i) predicted += coefficients[i] * observation.terms[i];
    const double error = weight_of(observation) * (predicted - observation.value);
    squares += error * error;
  }
  return squares;
}

// The coefficients with only the terms of the subset in use; nothing if one would be negative.
std::optional<std::vector<double>> fit_subset(std::span<const Observation> observations, std::size_t terms,
                                              unsigned subset) {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < terms; ++i)
    if ((subset >> i & 1U) != 0) used.push_back(i);
  const auto solution = solve(normal_equations(observations, used));
  if (!solution) return std::nullopt;
  std::vector<double> coefficients(terms, 0.0);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if ((*solution)[i] < 0) return std::nullopt;
    coefficients[used[i]] = (*solution)[i];
  }
  return coefficients;
}

}  // namespace

std::vector<double> fit_non_negative(std::span<const Observation> observations) {
  if (observations.empty()) return {};
  const std::size_t terms = observations.front().terms.size();
  std::vector<double> best(terms, 0.0);
  double least = error_of(observations, best);
  for (unsigned subset = 1; subset < 1U << terms; ++subset) {
    const auto candidate = fit_subset(observations, terms, subset);
    if (!candidate) continue;
    // A larger subset must earn its place: else rounding would choose between terms that explain the same.
    const double error = error_of(observations, *candidate);
    if (error < least * (1 - 1e-6) - 1e-15) {
      least = error;
      best = *candidate;
    }
  }
  return best;
}

}  // namespace lockstep::predict
