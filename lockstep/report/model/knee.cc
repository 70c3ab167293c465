#include "lockstep/report/model/knee.h"

#include <algorithm>

namespace lockstep::report {
namespace {

bool is_batch(const std::string& axis) {
  return axis == "batch_size" || axis == "global_batch";
}

bool same_but_batch(const GridCell& one, const GridCell& other) {
  return std::all_of(one.point.begin(), one.point.end(), [&](const lab::AxisPoint& at) {
    return is_batch(at.axis) || other.at(at.axis) == at.value;
  });
}

const GridCell* find_knee(const std::vector<const GridCell*>& rungs) {
  for (std::size_t i = 0; i + 1 < rungs.size(); ++i) {
    const double here = figure(*rungs[i], "samples_per_second")->value;
    const double next = figure(*rungs[i + 1], "samples_per_second")->value;
    if (next < here * (1 + kLeastGain)) return rungs[i];
  }
  return nullptr;
}

void put(std::vector<BatchLadder>& ladders, const Grid& grid, const GridCell& cell) {
  auto ladder = std::find_if(ladders.begin(), ladders.end(), [&](const BatchLadder& known) {
    return same_but_batch(*known.rungs.front(), cell);
  });
  if (ladder == ladders.end()) {
    ladders.push_back({label_without(grid, cell, {"batch_size", "global_batch"}), {}});
    ladder = ladders.end() - 1;
  }
  ladder->rungs.push_back(&cell);
}

void find_ends(BatchLadder& ladder, const Grid& grid) {
  std::stable_sort(ladder.rungs.begin(), ladder.rungs.end(), [](const auto* one, const auto* other) {
    return one->batch.per_worker < other->batch.per_worker;
  });
  ladder.knee = find_knee(ladder.rungs);
  for (const GridCell& cell : grid.cells)
    if (ladder.out_of_memory == nullptr && cell.status() == "out_of_memory" &&
        same_but_batch(*ladder.rungs.front(), cell))
      ladder.out_of_memory = &cell;
}

}  // namespace

std::vector<BatchLadder> batch_ladders(const Grid& grid) {
  std::vector<BatchLadder> ladders;
  if (grid.find_axis("batch_size") == nullptr && grid.find_axis("global_batch") == nullptr) return ladders;
  for (const GridCell& cell : grid.cells)
    if (!cell.runs.empty() && figure(cell, "samples_per_second")) put(ladders, grid, cell);
  std::erase_if(ladders, [](const BatchLadder& ladder) { return ladder.rungs.size() < 2; });
  for (BatchLadder& ladder : ladders) find_ends(ladder, grid);
  return ladders;
}

}  // namespace lockstep::report
