#include "lockstep/report/model/knee.h"

#include <algorithm>

namespace lockstep::report {
namespace {

bool same_but_batch(const GridCell& one, const GridCell& other) {
  return std::all_of(one.point.begin(), one.point.end(), [&](const lab::AxisPoint& at) {
    return is_batch(at.axis) || other.at(at.axis) == at.value;
  });
}

// Up to the knee; a rung whose gain cannot be told from the least one ends the search, because the knee may
// lie there or beyond.
void find_knee(BatchLadder& ladder) {
  for (std::size_t i = 0; i + 1 < ladder.rungs.size(); ++i) {
    const Number least = scaled(*figure(*ladder.rungs[i], "samples_per_second"), 1 + kLeastGain);
    const Number next = *figure(*ladder.rungs[i + 1], "samples_per_second");
    const bool unclear = clearly_differ(least, next) == false;
    if (!unclear && next.value >= least.value) continue;
    (unclear ? ladder.unclear : ladder.knee) = ladder.rungs[i];
    return;
  }
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
  find_knee(ladder);
  for (const GridCell& cell : grid.cells)
    if (ladder.out_of_memory == nullptr && cell.status() == "out_of_memory" &&
        same_but_batch(*ladder.rungs.front(), cell))
      ladder.out_of_memory = &cell;
}

}  // namespace

std::string batch_text(const GridCell& cell) {
  const std::string global = cell.at("global_batch");
  return global.empty() ? point_text({"batch_size", std::to_string(cell.batch.per_worker)})
                        : point_text({"global_batch", global});
}

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
