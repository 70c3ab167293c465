// Tables about workers and batches: speedup, throughput, the projection.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/record/threads.h"
#include "lockstep/report/model/knee.h"
#include "lockstep/report/model/scaling.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

TableValue threads_value(const GridCell& cell) {
  const auto threads = record::threads_per_worker(cell.runs.front());
  return threads ? count(*threads) : TableValue{};
}

void add_family(Table& table, const ScalingFamily& family) {
  for (const ScalingStep& step : family.steps) {
    const GridCell& cell = *step.cell;
    table.rows.push_back(
        {word(name_of(family.scaling)), word(family.label), count(cell.workers), threads_value(cell),
         count(static_cast<double>(cell.batch.per_worker)), count(static_cast<double>(cell.batch.global)),
         value(figure(cell, "step_seconds")), value(figure(cell, "samples_per_second")), value(step.speedup),
         count(step.ideal),
         value(step.efficiency ? std::optional(scaled(*step.efficiency, 100)) : std::nullopt),
         word(cell.oversubscribed ? "oversubscribed" : "")});
  }
}

std::string knee_text(const BatchLadder& ladder, const GridCell& cell) {
  if (&cell == ladder.knee) return "knee";
  if (&cell == ladder.unclear) return "hidden by noise";
  return "";
}

void add_projection(Table& table, const ScalingFamily& family) {
  if (!has_equal_threads(family)) return;
  const auto projection = predict::project(scaling_points(family), family.scaling);
  if (!projection) return;
  std::vector<std::string> fitted;
  for (const int workers : projection->fitted) fitted.push_back(std::to_string(workers));
  const auto predicted = [](const predict::Prediction& prediction) {
    return value(std::optional(
        Number{prediction.step_seconds, base::Interval{prediction.low_seconds, prediction.high_seconds}, 1}));
  };
  table.rows.push_back({word(name_of(family.scaling)), word(family.label), word(base::join(fitted, " ")),
                        count(projection->largest.workers), predicted(projection->largest),
                        count(projection->measured_seconds), count(100 * projection->relative_error),
                        count(projection->twice.workers), predicted(projection->twice)});
}

}  // namespace

Table scaling_table(const Subject& subject) {
  Table table{"scaling", "Speedup and efficiency against one worker"};
  const std::vector<ScalingFamily> families = scaling_families(subject.grid);
  table.note =
      "Weak: batch per worker constant. Strong: global batch constant. Speedup is samples per second over "
      "those of one worker of the same kind; efficiency is speedup over the ideal. " +
      ideal_text(families);
  table.columns = {{"scaling", "scaling"},
                   {"family", "family"},
                   {"workers", "workers", "", true},
                   {"threads", "threads of each", "", true},
                   {"batch_per_worker", "batch per worker", "", true},
                   {"batch_global", "global batch", "", true},
                   figure_column("step_seconds", "step"),
                   figure_column("samples_per_second", "samples"),
                   {"speedup", "speedup"},
                   {"ideal", "ideal", "", true},
                   {"efficiency_percent", "efficiency", "%"},
                   {"remark", "remark"}};
  for (const ScalingFamily& family : families) add_family(table, family);
  return table;
}

Table throughput_table(const Subject& subject) {
  Table table{"throughput", "Samples per second by batch and workers"};
  table.note =
      fmt::format("The knee is the batch from which the next larger one gains less than {:.0f} % or loses.",
                  100 * kLeastGain);
  table.columns = {{"family", "family"},
                   {"workers", "workers", "", true},
                   {"batch_per_worker", "batch per worker", "", true},
                   {"batch_global", "global batch", "", true},
                   figure_column("samples_per_second", "samples"),
                   figure_column("step_seconds", "step"),
                   {"knee", "knee"}};
  for (const BatchLadder& ladder : batch_ladders(subject.grid))
    for (const GridCell* cell : ladder.rungs)
      table.rows.push_back(
          {word(ladder.label), count(cell->workers), count(static_cast<double>(cell->batch.per_worker)),
           count(static_cast<double>(cell->batch.global)), value(figure(*cell, "samples_per_second")),
           value(figure(*cell, "step_seconds")), word(knee_text(ladder, *cell))});
  return table;
}

Table projection_table(const Subject& subject) {
  Table table{"projection", "Projection by the measured split and the ring formula"};
  table.note =
      "Fitted without the largest worker count, which is then predicted: the error says how far to trust "
      "the prediction for twice as many. Oversubscribed runs are kept out, and families whose workers had "
      "not "
      "equally many threads.";
  table.columns = {{"scaling", "scaling"},
                   {"family", "family"},
                   {"fitted_workers", "fitted to workers"},
                   {"largest_workers", "left out: workers", "", true},
                   {"largest_predicted_seconds", "its step, predicted", "s"},
                   {"largest_measured_seconds", "its step, measured", "s"},
                   {"error_percent", "error", "%"},
                   {"twice_workers", "twice: workers", "", true},
                   {"twice_predicted_seconds", "its step, predicted", "s"}};
  for (const ScalingFamily& family : scaling_families(subject.grid)) add_projection(table, family);
  return table;
}

}  // namespace lockstep::report
