// Speedup, efficiency and throughput.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/knee.h"
#include "lockstep/report/model/scaling.h"

namespace lockstep::report {
namespace {

using predict::Scaling;

struct Measure {
  const char* name;
  const char* title;
  ChartAxis y;
  std::optional<Number> (*of)(const ScalingStep&);
  double (*ideal)(const ScalingStep&);
};

// One line; two, the lowest and the highest, where families differ in how many threads a worker has.
void add_ideals(Chart& chart, const std::vector<ScalingFamily>& families, const Measure& measure) {
  std::map<int, std::set<double>> ideals;  // by workers
  for (const ScalingFamily& family : families)
    for (const ScalingStep& step : family.steps) ideals[step.cell->workers].insert(measure.ideal(step));
  const bool one =
      std::all_of(ideals.begin(), ideals.end(), [](const auto& at) { return at.second.size() == 1; });
  ChartSeries lowest{one ? "ideal" : "ideal (lowest)", {}, true}, highest{"ideal (highest)", {}, true};
  for (const auto& [workers, values] : ideals) {
    lowest.points.push_back({static_cast<double>(workers), *values.begin()});
    highest.points.push_back({static_cast<double>(workers), *values.rbegin()});
  }
  chart.series.push_back(std::move(lowest));
  if (!one) chart.series.push_back(std::move(highest));
}

std::vector<ScalingFamily> families_of(const Grid& grid, Scaling scaling) {
  std::vector<ScalingFamily> families = scaling_families(grid);
  std::erase_if(families, [&](const ScalingFamily& family) { return family.scaling != scaling; });
  return families;
}

Charts scaling_charts(const Subject& subject, const Measure& measure) {
  Charts charts;
  for (const Scaling scaling : {Scaling::weak, Scaling::strong}) {
    const std::vector<ScalingFamily> families = families_of(subject.grid, scaling);
    Chart chart{measure.name, ChartKind::line,
                fmt::format("{}, {} scaling", measure.title, name_of(scaling))};
    chart.x = {"workers", "", true};
    chart.y = measure.y;
    for (const ScalingFamily& family : families) {
      chart.series.push_back(series_of(subject.grid, *family.steps.back().cell, family.label,
                                       {"workers", "batch_size", "global_batch"}));
      chart.series.back().within +=
          fmt::format(" {}", scaling == Scaling::weak ? family.steps.back().cell->batch.per_worker
                                                      : family.steps.back().cell->batch.global);
      for (const ScalingStep& step : family.steps)
        if (const auto point = point_of(*step.cell, step.cell->workers, measure.of(step)))
          chart.series.back().points.push_back(*point);
    }
    if (chart.series.empty()) continue;
    add_ideals(chart, families, measure);
    chart.note = fmt::format(
        "{} {}", scaling == Scaling::weak ? "Batch per worker constant." : "Global batch constant.",
        ideal_text(families));
    const Charts pages = in_pages(chart);
    charts.insert(charts.end(), pages.begin(), pages.end());
  }
  return charts;
}

// All ladders in one chart; the knees are ringed.
Chart ladder_chart(const Grid& grid, const std::vector<BatchLadder>& ladders) {
  Chart chart{"throughput", ChartKind::line, "Throughput by batch"};
  chart.x = {"batch per worker", "", true};
  chart.y = {"samples per second", "1/s"};
  for (const BatchLadder& ladder : ladders) {
    chart.series.push_back(series_of(grid, *ladder.rungs.front(),
                                     ladder.label.empty() ? "samples per second" : ladder.label,
                                     {"batch_size", "global_batch"}));
    for (const GridCell* cell : ladder.rungs)
      if (const auto point = point_of(*cell, static_cast<double>(cell->batch.per_worker),
                                      figure(*cell, "samples_per_second"))) {
        chart.series.back().points.push_back(*point);
        if (cell == ladder.knee) chart.marks.push_back({"knee: " + cell->label, point->x, point->y});
      }
  }
  if (!chart.marks.empty())
    chart.note = fmt::format("Ringed: the knee, from which the next batch gains less than {:.0f} % or loses.",
                             100 * kLeastGain);
  return chart;
}

// The knees of each page's own series.
Charts ladder_pages(const Grid& grid, const std::vector<BatchLadder>& ladders) {
  Charts pages = in_pages(ladder_chart(grid, ladders));
  for (Chart& page : pages)
    std::erase_if(page.marks, [&](const ChartMark& mark) {
      return std::none_of(page.series.begin(), page.series.end(), [&](const ChartSeries& series) {
        return std::any_of(series.points.begin(), series.points.end(),
                           [&](const ChartPoint& point) { return point.x == mark.x && point.y == mark.y; });
      });
    });
  return pages;
}

std::vector<std::string> texts(const std::set<std::int64_t>& numbers) {
  std::vector<std::string> words;
  for (const std::int64_t number : numbers) words.push_back(std::to_string(number));
  return words;
}

// Batch by workers, where nothing else varies.
std::optional<Chart> heat_map(const Grid& grid) {
  std::set<std::int64_t> batches, workers;
  Chart chart{"throughput", ChartKind::heat_map, "Samples per second"};
  for (const GridCell& cell : grid.cells) {
    if (cell.runs.empty()) continue;
    batches.insert(cell.batch.per_worker);
    workers.insert(cell.workers);
    if (!label_without(grid, cell, {"workers", "batch_size", "global_batch"}).empty()) return std::nullopt;
  }
  if (batches.size() < 2 || workers.size() < 2) return std::nullopt;
  chart.x = {"batch per worker", "", false, texts(batches)};
  chart.y = {"workers", "1/s", false, texts(workers)};
  for (std::string& category : chart.y.categories) category += category == "1" ? " worker" : " workers";
  chart.series.push_back({""});
  for (const GridCell& cell : grid.cells)
    if (const auto speed = figure(cell, "samples_per_second"))
      chart.series[0].points.push_back(
          {static_cast<double>(std::distance(batches.begin(), batches.find(cell.batch.per_worker))),
           static_cast<double>(std::distance(workers.begin(), workers.find(cell.workers))), std::nullopt,
           speed->value, cell.oversubscribed});
  return chart;
}

}  // namespace

Charts speedup_charts(const Subject& subject) {
  return scaling_charts(subject, {"speedup",
                                  "Speedup against one worker",
                                  {"speedup"},
                                  [](const ScalingStep& step) { return step.speedup; },
                                  [](const ScalingStep& step) { return step.ideal; }});
}

Charts efficiency_charts(const Subject& subject) {
  return scaling_charts(subject, {"efficiency",
                                  "Efficiency against one worker",
                                  {"efficiency", "%"},
                                  [](const ScalingStep& step) -> std::optional<Number> {
                                    if (!step.efficiency) return std::nullopt;
                                    return scaled(*step.efficiency, 100);
                                  },
                                  [](const ScalingStep&) { return 100.0; }});
}

Charts throughput_charts(const Subject& subject) {
  const std::vector<BatchLadder> ladders = batch_ladders(subject.grid);
  Charts charts = ladder_pages(subject.grid, ladders);
  if (const auto map = heat_map(subject.grid)) charts.push_back(*map);
  Chart chart{"throughput", ChartKind::line, "Throughput by workers"};
  chart.y = {"samples per second", "1/s"};
  const Charts by_workers = along_axis(subject.grid, chart, "workers", [](const GridCell& cell) {
    return figure(cell, "samples_per_second");
  });
  charts.insert(charts.end(), by_workers.begin(), by_workers.end());
  return charts;
}

}  // namespace lockstep::report
