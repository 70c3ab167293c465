// How busy devices were while runs went on: of cores the CPU time of a worker, of a GPU what its driver
// tells.
#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/grid_axes.h"

namespace lockstep::report {
namespace {

Chart cpu_time_chart() {
  Chart chart{"utilisation", ChartKind::line, "CPU time of a worker as a share of its threads' time"};
  chart.y = {"share of its threads' time", "%"};
  chart.note =
      "CPU time of a worker's process over the time of the threads it computes with; above 100 % its threads "
      "for communication and input ran besides, and workers that share cores stay below.";
  return chart;
}

Chart gpu_time_chart() {
  Chart chart{"utilisation", ChartKind::line, "Utilisation of the GPU"};
  chart.y = {"time in which the GPU worked", "%"};
  chart.note =
      "The share of the time in which the GPU worked, as its driver tells it: of the whole GPU with all that "
      "runs on it, also where workers have slices of it. Where the driver does not tell, it is the CPU time "
      "of a worker's process over the time of its threads.";
  return chart;
}

// Of the first repeat of each cell with that kind of device.
Charts utilisation_of(const Grid& grid, bool on_gpu, Chart chart) {
  chart.x = {"sample"};
  chart.note += " Of the first repeat of each cell; samples of all ranks in the order of time.";
  for (const GridCell& cell : grid.cells) {
    if (cell.runs.empty() || !cell.runs.front().utilization) continue;
    if ((field_text(cell.runs.front(), "device") == "cuda") != on_gpu) continue;
    chart.series.push_back(series_of(grid, cell, cell.label, {}));
    const std::vector<double>& samples = cell.runs.front().utilization->samples;
    for (std::size_t i = 0; i < samples.size(); ++i)
      chart.series.back().points.push_back({static_cast<double>(i + 1), samples[i]});
  }
  return in_pages(chart);
}

}  // namespace

// What is sampled is a figure of the device, and means another thing on each kind.
Charts utilisation_charts(const Subject& subject) {
  Charts charts = utilisation_of(subject.grid, false, cpu_time_chart());
  for (Chart& chart : utilisation_of(subject.grid, true, gpu_time_chart()))
    charts.push_back(std::move(chart));
  return charts;
}

}  // namespace lockstep::report
