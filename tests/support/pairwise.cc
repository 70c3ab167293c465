#include "tests/support/pairwise.h"

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace lockstep::testing {
namespace {

using Pair = std::tuple<std::size_t, int, std::size_t, int>;  // dimension, value, dimension, value

std::vector<Pair> pairs_of(const Choice& choice) {
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < choice.size(); ++a)
    for (std::size_t b = a + 1; b < choice.size(); ++b) pairs.emplace_back(a, choice[a], b, choice[b]);
  return pairs;
}

std::size_t count_new(const Choice& choice, const std::set<Pair>& wanted) {
  std::size_t count = 0;
  for (const Pair& pair : pairs_of(choice)) count += wanted.count(pair);
  return count;
}

}  // namespace

std::vector<Choice> all_choices(const std::vector<int>& sizes) {
  std::vector<Choice> choices = {{}};
  for (const int size : sizes) {
    std::vector<Choice> longer;
    for (const Choice& choice : choices)
      for (int value = 0; value < size; ++value) {
        longer.push_back(choice);
        longer.back().push_back(value);
      }
    choices = std::move(longer);
  }
  return choices;
}

std::vector<Choice> pairwise_choices(const std::vector<int>& sizes,
                                     const std::function<bool(const Choice&)>& allowed) {
  std::vector<Choice> candidates;
  std::set<Pair> wanted;
  for (const Choice& choice : all_choices(sizes)) {
    if (!allowed(choice)) continue;
    candidates.push_back(choice);
    for (const Pair& pair : pairs_of(choice)) wanted.insert(pair);
  }
  std::mt19937 shuffle(1);  // an arbitrary order finds small covers; a fixed seed finds the same one
  std::shuffle(candidates.begin(), candidates.end(), shuffle);
  std::vector<Choice> chosen;
  while (!wanted.empty()) {
    const Choice* best = nullptr;
    std::size_t best_count = 0;
    for (const Choice& candidate : candidates)
      if (const std::size_t count = count_new(candidate, wanted); count > best_count) {
        best = &candidate;
        best_count = count;
      }
    chosen.push_back(*best);
    for (const Pair& pair : pairs_of(*best)) wanted.erase(pair);
  }
  return chosen;
}

}  // namespace lockstep::testing
