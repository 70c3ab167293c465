// Records that somebody changed: whatever value stands in whichever place, it is refused when it is read, or
// every view of it can be made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/lab/compare.h"
#include "lockstep/lab/record_exchange.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/report/formats/formats.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using Json = nlohmann::json;

void collect_places(const Json& value, const Json::json_pointer& at,
                    std::vector<Json::json_pointer>& places) {
  places.push_back(at);
  if (value.is_object())
    for (const auto& [key, member] : value.items()) collect_places(member, at / key, places);
  else if (value.is_array() && !value.empty())
    collect_places(value[0], at / 0, places);
}

const std::vector<Json>& strange_values() {
  static const std::vector<Json> kValues = {nullptr,   true,       5,          -1,         1e308, -1e308,
                                            5e-324,    "nan",      "infinity", "",         "x",   Json({}),
                                            {1},       {{"a", 1}}, INT64_MIN,  UINT64_MAX, 0,     "a\nb",
                                            "\x1b[2J", "=1+1",     0.5,        1 << 30,    "\xff"};
  return kValues;
}

void make_every_view(const record::RunRecord& changed, const record::RunRecord& other) {
  const std::vector<record::RunRecord> records = {changed, other};
  lab::to_csv(records);
  lab::to_json_lines(records);
  lab::compare({&changed, 1}, {&other, 1}, lab::run_figure_names());
  const Report report = report_of(records);
  html_of(report, {});
  csv_of(report);
  markdown_of(report, {});
  latex_of(report);
  json_of(report);
  terminal_of(report, {});
}

TEST(HostileRecords, AreRefusedOrEveryViewOfThemCanBeMade) {
  const std::vector<record::RunRecord> made = rich_records(false);
  const Json whole = record::to_json(made.front());
  std::vector<Json::json_pointer> places;
  collect_places(whole, Json::json_pointer(), places);
  int read = 0;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (const Json& value : strange_values()) {
      Json json = whole;
      json[places[i]] = value;
      SCOPED_TRACE(places[i].to_string());
      try {
        const record::RunRecord changed = record::record_from_json(json);
        ++read;
        make_every_view(changed, made.back());
      } catch (const base::Error&) {  // in words
      } catch (const std::exception& error) {
        ADD_FAILURE() << json[places[i]].dump(-1, ' ', true, Json::error_handler_t::replace) << ": "
                      << error.what();
      }
    }
  EXPECT_GT(read, 0);
}

TEST(HostileRecords, PutNoControlCharactersIntoAnyFormat) {
  std::vector<record::RunRecord> records = rich_records(false);
  for (record::RunRecord& record : records) {
    record.spec["model"] = "m\x1b[2J\xC2\x9B";
    record.machine["host"] = "h\x07";
    record.warnings = {"w\x1b]0;t"};
  }
  const Report report = report_of(records);
  for (const std::string& text : {html_of(report, {}), csv_of(report), markdown_of(report, {}),
                                  latex_of(report), json_of(report), terminal_of(report, {})})
    EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::report
