// The report for programs: every number in its base unit.
#include <cmath>
#include <nlohmann/json.hpp>

#include "lockstep/base/json.h"
#include "lockstep/report/formats/formats.h"

namespace lockstep::report {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no numbers for what is not finite; records write them as these words too.
Json number_json(double value) {
  if (std::isfinite(value)) return value;
  return exact_text(value);
}

Json value_json(const TableValue& cell) {
  if (!cell.known()) return nullptr;
  if (!cell.number) return cell.text;
  Json json = {{"value", number_json(cell.number->value)}};
  if (cell.number->interval) {
    json["low"] = number_json(cell.number->interval->low);
    json["high"] = number_json(cell.number->interval->high);
    json["repeats"] = cell.number->repeats;
  }
  return json;
}

Json column_json(const TableColumn& column) {
  Json json = {{"key", column.key}, {"heading", column.heading}};
  if (!column.unit.empty()) json["unit"] = column.unit;
  if (!column.definition.empty()) json["definition"] = column.definition;
  if (!column.published_by.empty()) json["published_by"] = column.published_by;
  return json;
}

Json table_json(const Table& table) {
  Json json = {
      {"name", table.name}, {"title", table.title}, {"note", table.note}, {"columns", Json::array()}};
  for (const TableColumn& column : table.columns) json["columns"].push_back(column_json(column));
  json["rows"] = Json::array();
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const TableValue& cell : row) cells.push_back(value_json(cell));
    json["rows"].push_back(std::move(cells));
  }
  return json;
}

Json axis_json(const ChartAxis& axis) {
  Json json = {{"label", axis.label}, {"unit", axis.unit}, {"scale", axis.log ? "log" : "linear"}};
  if (!axis.categories.empty()) json["categories"] = axis.categories;
  return json;
}

Json point_json(const ChartPoint& point) {
  Json json = {{"x", number_json(point.x)}, {"y", number_json(point.y)}};
  if (point.interval) {
    json["low"] = number_json(point.interval->low);
    json["high"] = number_json(point.interval->high);
  }
  if (point.value) json["value"] = number_json(*point.value);
  if (point.oversubscribed) json["oversubscribed"] = true;
  return json;
}

Json chart_json(const Chart& chart) {
  Json json = {{"name", chart.name},      {"kind", name_of(chart.kind)},
               {"title", chart.title},    {"description", chart.description},
               {"note", chart.note},      {"x", axis_json(chart.x)},
               {"y", axis_json(chart.y)}, {"series", Json::array()}};
  for (const ChartSeries& series : chart.series) {
    Json points = Json::array();
    for (const ChartPoint& point : series.points) points.push_back(point_json(point));
    json["series"].push_back({{"name", series.name}, {"reference", series.reference}, {"points", points}});
  }
  for (const ChartRule& rule : chart.rules)
    json["rules"].push_back({{"label", rule.label}, {"value", rule.value}});
  for (const ChartMark& mark : chart.marks)
    json["marks"].push_back({{"label", mark.label}, {"x", mark.x}, {"y", mark.y}});
  return json;
}

Json sentence_json(const Sentence& sentence) {
  Json rests = Json::array();
  for (const Evidence& evidence : sentence.rests_on)
    rests.push_back({{"field", evidence.field}, {"cell", evidence.cell}, {"value", evidence.value}});
  return {{"finding", sentence.finding}, {"text", sentence.text}, {"rests_on", rests}};
}

Json words_json(const std::vector<Paragraph>& paragraphs) {
  Json json = Json::array();
  for (const Paragraph& paragraph : paragraphs) {
    Json sentences = Json::array();
    for (const Sentence& sentence : paragraph.sentences) sentences.push_back(sentence_json(sentence));
    json.push_back({{"question", paragraph.question}, {"sentences", sentences}});
  }
  return json;
}

}  // namespace

std::string json_of(const Report& report) {
  Json json = {{"report", 1},
               {"first_line", report.first_line},
               {"title", report.title},
               {"notes", report.notes},
               {"runs", report.run_count},
               {"machines", report.machines},
               {"words", words_json(report.words)},
               {"tables", Json::array()},
               {"charts", Json::array()},
               {"published", Json::array()},
               {"warnings", report.warnings}};
  for (const Table& table : report.tables) json["tables"].push_back(table_json(table));
  for (const Chart& chart : report.charts) json["charts"].push_back(chart_json(chart));
  for (const PublishedNote& note : report.published)
    json["published"].push_back(
        {{"name", note.name}, {"source", note.source}, {"definition", note.definition}});
  return base::json_text(json, 2) + "\n";
}

}  // namespace lockstep::report
