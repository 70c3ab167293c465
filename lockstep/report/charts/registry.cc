// The charts by name.
#include <fmt/format.h>

#include <array>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/report/charts/charts.h"

namespace lockstep::report {
namespace {

struct ChartEntry {
  const char* name;
  Charts (*make)(const Subject&);
};

constexpr std::array<ChartEntry, 18> kCharts = {{
    {"speedup", speedup_charts},
    {"efficiency", efficiency_charts},
    {"throughput", throughput_charts},
    {"split", split_charts},
    {"bytes", bytes_charts},
    {"exposure", exposure_charts},
    {"bandwidth", bandwidth_charts},
    {"loss-by-epoch", epoch_loss_charts},
    {"loss-by-second", second_loss_charts},
    {"loss-by-rank", rank_loss_charts},
    {"accuracy", accuracy_charts},
    {"psnr", psnr_charts},
    {"targets", target_charts},
    {"memory", memory_charts},
    {"utilisation", utilisation_charts},
    {"minutes", minutes_charts},
    {"axes", axes_charts},
    {"primitives", primitives_charts},
}};

}  // namespace

std::vector<std::string> chart_names() {
  std::vector<std::string> names;
  for (const ChartEntry& entry : kCharts) names.emplace_back(entry.name);
  return names;
}

std::vector<Chart> make_charts(const std::string& name, const Subject& subject) {
  for (const ChartEntry& entry : kCharts) {
    if (name != entry.name) continue;
    Charts charts = entry.make(subject);
    std::erase_if(charts, [](const Chart& chart) { return chart.empty(); });
    for (Chart& chart : charts) {
      note_marks(chart);
      if (chart.description.empty()) chart.description = description_of(chart);
    }
    agree_styles(charts);
    return charts;
  }
  throw base::ConfigError(
      fmt::format("there is no chart '{}'.{}", name, base::suggestion(name, chart_names())));
}

}  // namespace lockstep::report
