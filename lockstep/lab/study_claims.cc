// What a study file says about repeats, intervals and targets, and what others published.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/lab/run_figures.h"
#include "lockstep/lab/study_sections.h"

namespace lockstep::lab {
namespace {

std::string text_at(const YamlValue& map, const std::string& key) {
  const auto value = map.find(key);
  return value ? value->text() : "";
}

std::vector<PublishedValue> read_published_values(const YamlValue& list) {
  static const std::vector<std::string> kKeys = {"at", "value"};
  std::vector<PublishedValue> values;
  for (const YamlValue& entry : list.values()) {
    (void)entry.pairs("a published value", kKeys);
    values.push_back({read_point(entry.at("at", "a published value"), "at"),
                      entry.at("value", "a published value").number()});
  }
  return values;
}

Published read_column(const YamlValue& map) {
  static const std::vector<std::string> kKeys = {"name", "source", "definition", "unit", "figure", "values"};
  (void)map.pairs("published", kKeys);
  Published column;
  column.name = map.at("name", "published").text();
  column.source = map.at("source", "published").text();
  column.definition = map.at("definition", "published").text();
  column.unit = text_at(map, "unit");
  if (const auto figure = map.find("figure")) column.figure = figure->one_of("figure", run_figure_names());
  column.values = read_published_values(map.at("values", "published"));
  return column;
}

constexpr int kMostRepeats = 1000;

int repeats_at(const YamlValue& value) {
  const int count = value.whole_number(1);
  if (count > kMostRepeats)
    value.refuse(fmt::format("{} repeats are more than the {} that a cell may have.", count, kMostRepeats));
  return count;
}

}  // namespace

Repeats read_repeats(const YamlValue& value) {
  static const std::vector<std::string> kKeys = {"min", "max"};
  if (!value.is_map()) {
    const int count = repeats_at(value);
    return {count, count};
  }
  (void)value.pairs("repeats", kKeys);
  Repeats repeats;
  if (const auto least = value.find("min")) repeats.least = repeats_at(*least);
  repeats.most = repeats.least;
  if (const auto most = value.find("max")) repeats.most = repeats_at(*most);
  if (repeats.most < repeats.least)
    value.refuse(fmt::format("max {} is below min {}.", repeats.most, repeats.least));
  return repeats;
}

IntervalGoal read_interval(const YamlValue& value) {
  static const std::vector<std::string> kKeys = {"figure", "within"};
  IntervalGoal goal;
  if (!value.is_map()) {
    goal.relative = value.share();
    return goal;
  }
  (void)value.pairs("interval", kKeys);
  if (const auto figure = value.find("figure")) goal.figure = figure->one_of("figure", run_figure_names());
  if (const auto within = value.find("within")) goal.relative = within->share();
  return goal;
}

std::vector<Target> read_targets(const YamlValue& map) {
  static const std::vector<std::string> kFigures = {"train_loss", "val_loss", "val_accuracy", "val_psnr"};
  std::vector<Target> targets;
  for (const YamlValue::Pair& pair : map.pairs("targets", kFigures))
    targets.push_back({pair.name(), pair.value.number()});
  return targets;
}

std::vector<Published> read_published(const YamlValue& list) {
  std::vector<Published> columns;
  for (const YamlValue& entry : list.values()) columns.push_back(read_column(entry));
  return columns;
}

std::vector<Claim> read_claims(const YamlValue& list, const std::vector<Published>& published) {
  static const std::vector<std::string> kKeys = {"text", "source", "column", "lower", "higher"};
  std::vector<std::string> columns;
  for (const Published& column : published) columns.push_back(column.name);
  std::vector<Claim> claims;
  for (const YamlValue& entry : list.values()) {
    (void)entry.pairs("a claim", kKeys);
    claims.push_back({entry.at("text", "a claim").text(), text_at(entry, "source"),
                      entry.at("column", "a claim").one_of("published column", columns),
                      read_point(entry.at("lower", "a claim"), "lower"),
                      read_point(entry.at("higher", "a claim"), "higher")});
  }
  return claims;
}

}  // namespace lockstep::lab
