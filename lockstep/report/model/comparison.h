// One axis compared value by value, with all other axes equal: what its values changed.
#pragma once

#include <string_view>
#include <vector>

#include "lockstep/report/model/grid.h"

namespace lockstep::report {

// The cells that are equal but for the axis compared.
struct ComparedRest {
  std::string label;                   // what they share besides workers; empty where nothing else varies
  std::vector<const GridCell*> cells;  // one for each value; null where the figure was not measured
};

struct AxisComparison {
  const GridAxis* axis = nullptr;
  std::vector<std::string> values;  // what the others are compared with comes first
  std::vector<ComparedRest> rests;  // in each the first value and at least one other were measured
  int workers = 0;                  // of the cells compared; 0 where they differ or never vary
  bool oversubscribed = false;      // some of them were
};

// Speed is judged where every worker had cores of its own (the largest such count, else the largest); quality
// at the largest count.
enum class ComparedAt { own_cores, most_workers };

// Nothing where no two values of the axis were measured with all else equal.
std::optional<AxisComparison> compare_along(const Grid& grid, const GridAxis& axis, std::string_view figure,
                                            ComparedAt where);
std::optional<AxisComparison> compare_along(const Grid&& grid, const GridAxis& axis, std::string_view figure,
                                            ComparedAt where) = delete;

// Whether two cells are equal on every axis but that one.
bool equal_but(const GridCell& one, const GridCell& other, std::string_view axis);

}  // namespace lockstep::report
