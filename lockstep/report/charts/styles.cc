// Which colour and shape each series has, in all charts at once.
#include <algorithm>
#include <map>
#include <set>

#include "lockstep/report/charts/charts.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kReferenceStyle = kMostSeries - 1;

// By what a series is known again in another chart. Where it stands in a part of some chart, that is what it
// is called within the part: then its likes in the other parts have its style too.
class Identities {
 public:
  explicit Identities(const Charts& charts) {
    for (const Chart& chart : charts)
      for (const ChartSeries& series : chart.series)
        if (series.divided) within_.emplace(series.name, inner_name(series));
  }
  // Of a chart's series; their names where what they are called within parts would not tell them apart.
  std::vector<std::string> of(const Chart& chart) const {
    std::vector<std::string> names, inner;
    for (const ChartSeries& series : chart.series) {
      names.push_back(series.name);
      const auto known = within_.find(series.name);
      inner.push_back(known == within_.end() ? series.name : known->second);
    }
    return std::set<std::string>(inner.begin(), inner.end()).size() == inner.size() ? inner : names;
  }

 private:
  std::map<std::string, std::string> within_;  // by name
};

std::size_t least_free(const std::set<std::size_t>& taken, std::size_t otherwise) {
  for (std::size_t style = 0; style < kMostSeries; ++style)
    if (!taken.contains(style)) return style;
  return otherwise;
}

// A style for each identity that none of those beside it in some chart has, in the order in which they come.
class Styles {
 public:
  void add(const Chart& chart, const std::vector<std::string>& identities) {
    const bool referred = std::any_of(chart.series.begin(), chart.series.end(),
                                      [](const ChartSeries& series) { return series.reference; });
    for (std::size_t i = 0; i < identities.size(); ++i) {
      if (chart.series[i].reference) continue;
      if (!beside_.contains(identities[i])) order_.push_back(identities[i]);
      Beside& beside = beside_[identities[i]];
      beside.others.insert(identities.begin(), identities.end());
      beside.referred = beside.referred || referred;
    }
  }
  void choose() {
    for (const std::string& identity : order_) {
      std::set<std::size_t> taken;
      for (const std::string& other : beside_[identity].others)
        if (const auto known = styles_.find(other); known != styles_.end()) taken.insert(known->second);
      if (beside_[identity].referred) taken.insert(kReferenceStyle);
      styles_[identity] = least_free(taken, styles_.size() % kMostSeries);
    }
  }
  std::size_t at(const std::string& identity) const { return styles_.at(identity); }

 private:
  struct Beside {
    std::set<std::string> others;
    bool referred = false;
  };
  std::vector<std::string> order_;
  std::map<std::string, Beside> beside_;
  std::map<std::string, std::size_t> styles_;
};

void set_styles(Chart& chart, const std::vector<std::string>& identities, const Styles& styles) {
  std::set<std::size_t> taken;
  for (std::size_t i = 0; i < identities.size(); ++i) {
    ChartSeries& series = chart.series[i];
    std::size_t style = series.reference ? kReferenceStyle : styles.at(identities[i]);
    // Where there are more series than styles: rather another one than two alike beside each other.
    if (!series.reference && taken.contains(style)) style = least_free(taken, style);
    series.style = style;
    taken.insert(style);
  }
}

}  // namespace

void agree_styles(Charts& charts) {
  const Identities identities(charts);
  Styles styles;
  for (const Chart& chart : charts) styles.add(chart, identities.of(chart));
  styles.choose();
  for (Chart& chart : charts) set_styles(chart, identities.of(chart), styles);
}

}  // namespace lockstep::report
