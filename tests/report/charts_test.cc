// Charts: every name a study may use is known, every mark carries its numbers, scales put them where they
// belong.
#include "lockstep/report/charts/charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/lab/study_views.h"
#include "lockstep/report/svg/draw.h"
#include "lockstep/report/svg/element.h"
#include "lockstep/report/svg/scale.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Registry, KnowsEveryNameThatStudyFilesMayUse) {
  for (const std::string& name : lab::names_of(lab::study_tables()))
    EXPECT_THAT(table_names(), Contains(name));
  for (const std::string& name : lab::names_of(lab::study_charts()))
    EXPECT_THAT(chart_names(), Contains(name));
}

TEST(Registry, RefusesAnUnknownNameWithASuggestion) {
  const Grid grid = make_grid(nullptr, {}, {made_run({})});
  try {
    (void)make_charts("speedpu", {grid});
    FAIL();
  } catch (const base::ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("speedup"));
  }
}

TEST(Charts, ARichGridGivesEveryChartButThoseOfWhatItDoesNotHave) {
  const Grid grid = make_grid(nullptr, {}, rich_records(false));
  for (const std::string& name : chart_names()) {
    if (name == "psnr" || name == "primitives")
      EXPECT_THAT(make_charts(name, {grid}), IsEmpty()) << name;
    else
      EXPECT_THAT(make_charts(name, {grid}), Not(IsEmpty())) << name;
  }
}

TEST(Charts, EveryPointIsDrawnWithItsNumbers) {
  for (const Chart& chart : report_of(rich_records(false)).charts) {
    const std::string svg = draw(chart, {"c", true});
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      for (const ChartPoint& point : chart.series[i].points) {
        if ((chart.y.log && point.y <= 0) || (chart.x.log && point.x <= 0)) continue;
        EXPECT_THAT(svg, HasSubstr("data-series=\"" + std::to_string(i) + "\" data-x=\"" +
                                   exact_text(point.x) + "\" data-y=\"" + exact_text(point.y) + "\""));
      }
  }
}

TEST(Charts, ALogAxisIsNamedAsOne) {
  EXPECT_EQ(axis_title({"workers", "", true}, {}), "workers (log scale)");
  EXPECT_EQ(axis_title({"step", "s", false}, {1e-3, "ms"}), "step, ms");
}

TEST(Charts, AReferenceIsDashedInTheLegendAsInTheChart) {
  const Grid grid = make_grid(nullptr, {}, {made_run({}), made_run({.workers = 2})});
  const Chart chart = make_charts("speedup", {grid}).front();
  const auto ideal = std::find_if(chart.series.begin(), chart.series.end(),
                                  [](const ChartSeries& series) { return series.reference; });
  ASSERT_NE(ideal, chart.series.end());
  const auto index = static_cast<std::size_t>(ideal - chart.series.begin());
  EXPECT_TRUE(is_dashed(chart, index));
  EXPECT_THAT(series_key(style_of(chart, index), true, 0, 6), HasSubstr("class=\"line\""));
  EXPECT_THAT(draw(chart, {"c", true}), HasSubstr("class=\"key " + series_class(chart, index)));
}

TEST(Charts, HaveTitleAndDescriptionForScreenReaders) {
  for (const Chart& chart : report_of(rich_records(false)).charts) {
    EXPECT_FALSE(chart.title.empty());
    EXPECT_FALSE(chart.description.empty());
    EXPECT_THAT(draw(chart, {"c", false}), HasSubstr("aria-labelledby=\"c-title c-desc\""));
  }
}

TEST(Charts, NoChartHasMoreSeriesThanColours) {
  for (const Chart& chart : report_of(rich_records(true)).charts)
    EXPECT_LE(std::count_if(chart.series.begin(), chart.series.end(),
                            [](const auto& one) { return !one.reference; }),
              kSeriesColors)
        << chart.title;
}

TEST(Charts, TheTableBesideAChartHoldsEveryNumber) {
  for (const Chart& chart : report_of(rich_records(false)).charts) {
    std::size_t points = 0, numbers = 0;
    for (const ChartSeries& series : chart.series) points += series.points.size();
    const Table table = table_of(chart);
    for (const auto& row : table.rows)
      for (std::size_t column = 1; column < row.size(); ++column) numbers += row[column].number.has_value();
    EXPECT_EQ(numbers, points) << chart.title;
  }
}

TEST(Charts, OversubscribedPointsAreHollowAndTheChartSaysSo) {
  const Grid grid = make_grid(
      nullptr, {},
      {made_run({.cores = 2}), made_run({.workers = 2, .cores = 2}), made_run({.workers = 4, .cores = 2})});
  for (const char* name : {"speedup", "efficiency", "throughput"})
    for (const Chart& chart : make_charts(name, {grid})) {
      EXPECT_THAT(draw(chart, {"c", false}), HasSubstr("class=\"mark hollow\"")) << chart.title;
      EXPECT_THAT(chart.note, HasSubstr("Hollow: oversubscribed")) << chart.title;
      EXPECT_THAT(chart.description, HasSubstr("oversubscribed")) << chart.title;
    }
  EXPECT_THAT(make_charts("split", {grid})[0].x.categories, Contains("4 workers (oversubscribed)"));
}

TEST(Charts, SeriesThatLieOnEachOtherAreNamed) {
  const Grid grid = make_grid(
      nullptr, {},
      {made_run({}), made_run({.workers = 2}), made_run({.workers = 4, .losses = {0.9, 0.6, 0.1}})});
  const auto charts = make_charts("loss-by-epoch", {grid});
  ASSERT_FALSE(charts.empty());
  EXPECT_THAT(charts[0].note, HasSubstr("2 series coincide: 1 worker; 2 workers."));
}

TEST(Charts, PartsAreDividedByTheFirstAxisWithOneColourAndOneUnit) {
  const Grid grid = make_grid(nullptr, {}, rich_records(false));
  const auto charts = make_charts("throughput", {grid});
  std::map<std::string, std::set<std::string>> classes;  // of what a series is called within its part
  std::size_t parts = 0;
  for (const Chart& chart : make_charts("loss-by-epoch", {grid})) {
    if (chart.title.find("Training loss") == std::string::npos) continue;
    ++parts;
    EXPECT_TRUE(chart.title.find(": ddp") != std::string::npos ||
                chart.title.find(": horovod") != std::string::npos)
        << chart.title;
    EXPECT_GT(chart.y.largest, 7);
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      classes[chart.series[i].within].insert(series_class(chart, i));
  }
  EXPECT_EQ(parts, 4U);  // two strategies of twelve cells each
  for (const auto& [name, all] : classes) EXPECT_EQ(all.size(), 1U) << name;
}

TEST(Charts, ASeriesKeepsItsStyleInAllChartsOfAReport) {
  std::vector<record::RunRecord> records;
  for (const char* strategy : {"ddp", "horovod", "localsgd"})
    for (const int workers : {1, 2}) records.push_back(made_run({.workers = workers, .strategy = strategy}));
  // The first has nothing for the charts of validation, so that the others come earlier there.
  for (record::EpochFigures& epoch : records.front().epochs) epoch.val_loss.reset();
  std::map<std::string, std::set<std::size_t>> styles;
  for (const Chart& chart : report_of(records).charts) {
    std::set<std::size_t> beside;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      if (chart.series[i].reference) continue;
      styles[chart.series[i].name].insert(style_of(chart, i));
      EXPECT_TRUE(beside.insert(style_of(chart, i)).second) << chart.title << ": " << chart.series[i].name;
    }
  }
  for (const auto& [name, all] : styles) EXPECT_EQ(all.size(), 1U) << name;
}

TEST(Charts, OneOfSeveralOfANameIsChosenByItsNumber) {
  const std::vector<record::RunRecord> records = {made_run({}), made_run({.workers = 2})};
  const Report both = report_of(records, nullptr, {"loss-by-epoch"});
  ASSERT_EQ(both.charts.size(), 2U);
  const Report second = report_of(records, nullptr, {"loss-by-epoch-2"});
  ASSERT_EQ(second.charts.size(), 1U);
  EXPECT_EQ(second.charts[0].title, both.charts[1].title);
  EXPECT_THROW((void)report_of(records, nullptr, {"loss-by-epoch-3"}), base::UsageError);
}

TEST(Charts, ALegendShowsTheShapeOfItsSeries) {
  const Grid grid = make_grid(
      nullptr, {}, {made_run({}), made_run({.workers = 2}), made_run({.workers = 2, .strategy = "dp"})});
  const auto charts = make_charts("loss-by-epoch", {grid});
  const std::string svg = draw(charts.at(0), {"c", true});
  EXPECT_THAT(svg, HasSubstr("<g class=\"key s0\"><circle"));
  EXPECT_THAT(svg, HasSubstr("<g class=\"key s1\"><rect"));
}

TEST(Charts, WithoutALinksPeakNothingIsPromisedOfIt) {
  const Grid grid = make_grid(nullptr, {}, {made_run({.workers = 2}), made_run({.workers = 4})});
  for (const Chart& chart : make_charts("bandwidth", {grid})) {
    EXPECT_THAT(chart.title, Not(HasSubstr("ring formula"))) << chart.title;
    EXPECT_THAT(chart.note, HasSubstr("No peak of the link is known")) << chart.title;
  }
  const Grid rich = make_grid(nullptr, {}, rich_records(false));
  EXPECT_THAT(make_charts("bandwidth", {rich})[1].title, HasSubstr("ring formula"));
}

TEST(Charts, TheWholeJobsPartsMakeItUp) {
  const Grid grid = make_grid(nullptr, {}, {with_wall(made_run({}), std::nullopt, 0.5, 2.0, 0.25, 3.5)});
  const auto charts = make_charts("minutes", {grid});
  ASSERT_FALSE(charts.empty());
  double sum = 0;
  for (const ChartSeries& series : charts[0].series) sum += series.points.at(0).y;
  EXPECT_DOUBLE_EQ(sum, 3.5);
  EXPECT_EQ(charts[0].series.back().name, "launch and the rest");
}

TEST(Charts, ACellThatRanOutOfMemoryIsDrawnWithItsNeed) {
  record::RunRecord fitted = made_run({.workers = 2});
  fitted.memory = record::MemoryFigures{100, {{"activations", 100}}, 256U << 20U};
  const Grid grid = make_grid(nullptr, {}, {out_of_memory_run({}), fitted});
  const auto charts = make_charts("memory", {grid});
  ASSERT_FALSE(charts.empty());
  EXPECT_EQ(charts[0].series.back().name, "needed (ran out of memory)");
  EXPECT_EQ(charts[0].series.back().points.at(0).y, 274.0 * 1048576);
}

TEST(Charts, UtilisationIsThatOfTheGpuWhereOneDoesTheWork) {
  std::vector<record::RunRecord> records = {made_run({}), made_run({.workers = 2})};
  for (record::RunRecord& record : records) record.utilization = record::UtilizationFigures{80, {70, 90}};
  const auto charts = [&] { return make_charts("utilisation", {make_grid(nullptr, {}, records)}); };
  ASSERT_EQ(charts().size(), 1U);
  EXPECT_THAT(charts()[0].title, HasSubstr("CPU time of a worker"));
  EXPECT_THAT(charts()[0].y.label, HasSubstr("threads"));
  records[1].spec["device"] = "cuda";
  ASSERT_EQ(charts().size(), 2U);
  EXPECT_THAT(charts()[0].title, HasSubstr("CPU time of a worker"));
  EXPECT_EQ(charts()[1].title, "Utilisation of the GPU");
  EXPECT_THAT(charts()[1].y.label, Not(HasSubstr("threads")));
  EXPECT_THAT(charts()[1].note, HasSubstr("of the whole GPU"));
  for (const Chart& chart : charts()) EXPECT_EQ(chart.series.size(), 1U);
}

TEST(Scale, PutsValuesWhereTheyBelong) {
  const Scale linear{0, 10, false, 100, 200};
  EXPECT_EQ(linear.at(5), 150);
  const Scale log{1, 100, true, 0, 100};
  EXPECT_NEAR(log.at(10), 50, 1e-9);
}

TEST(Scale, TicksAreRoundAndInsideTheRange) {
  EXPECT_THAT(round_ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(log_ticks(1, 1000), ElementsAre(1, 10, 100, 1000));
}

TEST(Scale, TicksThatWouldOverlapAreThinned) {
  const Scale scale{0, 100, false, 0, 60};
  std::vector<double> wanted;
  for (int i = 0; i <= 100; i += 5) wanted.push_back(i);
  const std::vector<Tick> ticks = ticks_for(scale, {1, ""}, true, wanted);
  for (std::size_t i = 0; i + 1 < ticks.size(); ++i)
    EXPECT_GE(scale.at(ticks[i + 1].value) - scale.at(ticks[i].value),
              (text_width(ticks[i].text, 11) + text_width(ticks[i + 1].text, 11)) / 2);
}

TEST(Scale, TicksThatLieCloseTogetherReadDifferently) {
  const Scale scale{1.9011, 1.9023, false, 0, 400};
  const std::vector<Tick> ticks = ticks_for(scale, {1, ""}, false, {});
  ASSERT_GE(ticks.size(), 4U);
  for (std::size_t i = 0; i + 1 < ticks.size(); ++i) EXPECT_NE(ticks[i].text, ticks[i + 1].text);
}

TEST(Text, WrapsWithoutLosingLetters) {
  const std::vector<std::string> lines = wrap("a rather long label averyveryverylongwordwithoutanyspace", 60);
  std::string joined;
  for (const std::string& line : lines) {
    EXPECT_LE(text_width(line), 60);
    joined += line;
  }
  joined.erase(std::remove(joined.begin(), joined.end(), ' '), joined.end());
  EXPECT_EQ(joined, "aratherlonglabelaveryveryverylongwordwithoutanyspace");
}

}  // namespace
}  // namespace lockstep::report
