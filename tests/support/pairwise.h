// Chooses few cases out of a large matrix so that every pair of values of every two dimensions occurs in at
// least one.
#pragma once

#include <functional>
#include <vector>

namespace lockstep::testing {

// One case: the index of the value taken in each dimension.
using Choice = std::vector<int>;

// All cases, in lexical order. `sizes` gives the number of values of each dimension.
std::vector<Choice> all_choices(const std::vector<int>& sizes);

// A greedy cover of all pairs, the same every time. Cases for which `allowed` is false are never chosen, and
// pairs that occur only in them need not be covered.
std::vector<Choice> pairwise_choices(const std::vector<int>& sizes,
                                     const std::function<bool(const Choice&)>& allowed);

}  // namespace lockstep::testing
