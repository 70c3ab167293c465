// Every format is written from the same numbers and reads back into them.
#include "lockstep/report/formats/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "lockstep/base/text.h"
#include "lockstep/report/formats/content_policy.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Report rich_report() {
  return report_of(rich_records(true));
}

// A reader of CSV that knows quotes and nothing of our writer.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows = {{""}};
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (inside && letter == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += '"';
      ++i;
    } else if (letter == '"') {
      inside = !inside;
    } else if (!inside && letter == ',') {
      rows.back().emplace_back();
    } else if (!inside && letter == '\n') {
      rows.push_back({""});
    } else if (inside || letter != '\r') {
      rows.back().back() += letter;
    }
  }
  rows.pop_back();
  return rows;
}

std::size_t column_of(const std::vector<std::string>& header, const std::string& key) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), key) - header.begin());
}

TEST(Csv, ReadsBackIntoTheSameNumbers) {
  for (const Table& table : rich_report().tables) {
    const auto rows = read_csv(csv_of(table));
    ASSERT_EQ(rows.size(), table.rows.size() + 1) << table.name;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      const std::size_t at = column_of(rows[0], table.columns[column].key);
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const TableValue& value = table.rows[row][column];
        ASSERT_EQ(rows[row + 1].size(), rows[0].size());
        if (!value.number) {
          EXPECT_EQ(rows[row + 1][at], value.text);
          continue;
        }
        EXPECT_EQ(std::strtod(rows[row + 1][at].c_str(), nullptr), value.number->value);
        if (value.number->interval) {
          EXPECT_EQ(std::strtod(rows[row + 1][at + 1].c_str(), nullptr), value.number->interval->low);
        }
      }
    }
  }
}

TEST(Csv, QuotesWhatWouldBreakARow) {
  Table table{"t", "t"};
  table.columns = {{"a", "a"}};
  table.rows = {{word("one, \"two\"\nthree")}};
  EXPECT_EQ(read_csv(csv_of(table))[1][0], "one, \"two\"\nthree");
}

TEST(Markdown, TablesHaveAsManyCellsInEveryRowAsInTheirHead) {
  const std::string text = markdown_of(rich_report(), {});
  std::size_t bars = 0, tables = 0;
  for (const std::string& line : base::split(text, '\n')) {
    if (!line.starts_with('|')) {
      bars = 0;
      continue;
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < line.size(); ++i) count += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    tables += bars == 0;
    if (bars != 0) {
      EXPECT_EQ(count, bars) << line;
    }
    bars = count;
  }
  EXPECT_GE(tables, 10U);
}

TEST(Markdown, TheFirstLineSaysWhatWasCut) {
  lab::Study study = published_study();
  study.cut = "64 samples instead of all";
  const Report report = report_of(published_records(), &study);
  EXPECT_THAT(markdown_of(report, {}),
              StartsWith("> Quick variant, 18 runs. Cut: 64 samples instead of all"));
  EXPECT_THAT(terminal_of(report, {}), StartsWith("Quick variant, 18 runs. Cut: 64 samples instead of all"));
}

TEST(Explain, ShowsTheFieldsThatASentenceRestsOn) {
  const Report report = rich_report();
  EXPECT_THAT(terminal_of(report, {.explain = true}), HasSubstr("- steps.samples_per_second at "));
  EXPECT_THAT(terminal_of(report, {.explain = false}), Not(HasSubstr("- steps.samples_per_second at ")));
}

TEST(Json, HoldsEveryNumberOfTablesAndCharts) {
  const Report report = rich_report();
  const auto json = nlohmann::json::parse(json_of(report));
  ASSERT_EQ(json["charts"].size(), report.charts.size());
  for (std::size_t i = 0; i < report.charts.size(); ++i)
    for (std::size_t s = 0; s < report.charts[i].series.size(); ++s)
      for (std::size_t p = 0; p < report.charts[i].series[s].points.size(); ++p)
        EXPECT_EQ(json["charts"][i]["series"][s]["points"][p]["y"].get<double>(),
                  report.charts[i].series[s].points[p].y);
  EXPECT_EQ(json["tables"].size(), report.tables.size());
}

TEST(Latex, EscapesWhatWouldBeMarkupAndBalancesItsEnvironments) {
  Report report = rich_report();
  report.title = "50 % of a_b & c#d {x} \\y ~ ^ µ";
  const std::string text = latex_of(report);
  EXPECT_THAT(text, HasSubstr("50 \\% of a\\_b \\& c\\#d \\{x\\} \\textbackslash{}y"));
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("\\begin{tabular}"), count("\\end{tabular}"));
  EXPECT_EQ(count("\\toprule"), count("\\bottomrule"));
  EXPECT_GT(count("\\toprule"), 8U);
}

TEST(Html, IsOneFileThatAsksNobodyForAnything) {
  const std::string html = html_of(rich_report(), {});
  for (const char* request : {"http:", "https:", "src=", "href=", "url(", "@import", " style=", "onclick"})
    EXPECT_THAT(html, Not(HasSubstr(request))) << request;
  EXPECT_THAT(html, HasSubstr("default-src &#39;none&#39;"));
}

TEST(Html, EscapesWhatRecordsSay) {
  std::vector<record::RunRecord> records = {made_run({})};
  records[0].warnings = {"<script>alert(1)</script>"};
  const std::string html = html_of(report_of(std::move(records)), {});
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert"));
}

TEST(ContentPolicy, HashesAreTheOnesBrowsersCompute) {
  // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
  EXPECT_EQ(policy_hash("alert(1)"), "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='");
}

}  // namespace
}  // namespace lockstep::report
