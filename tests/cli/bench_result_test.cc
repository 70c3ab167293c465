// Table, JSON and thresholds of a bench whose figures are known.
#include "lockstep/cli/bench/bench_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/cli/bench/bench_json.h"
#include "lockstep/cli/bench/bench_table.h"

namespace lockstep::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

CellResult result_of(std::size_t lane, std::size_t count, double seconds) {
  const Cell cell{measure::Collective::all_reduce, comm::ElementType::f32, comm::ReduceOp::sum, 0, count};
  return {cell, lane, 1, {seconds, seconds, seconds}, 0};
}

// Two lanes; at 4 MB the first moves 4 GB/s, the second 1 GB/s (2 ranks: bus and algorithm bandwidth are
// equal).
BenchReport sample_report() {
  BenchReport report;
  report.version = "1.2.3";
  report.machine.host = "somewhere";
  report.workers = 2;
  report.memory_copy_bytes_per_second = 8e9;
  report.lanes = {{"shm", "shm", "ours", "auto", BufferChoice::owned, comm::Place::shared},
                  {"gloo", "tcp", "", "ring", BufferChoice::private_, comm::Place::host}};
  report.results = {result_of(0, 1000, 1e-6), result_of(1, 1000, 1e-4), result_of(0, 1000000, 1e-3),
                    result_of(1, 1000000, 4e-3)};
  return report;
}

TEST(BenchTable, has_one_block_per_lane_with_its_average_last) {
  const std::string table = bench_table(sample_report());
  EXPECT_THAT(table,
              AllOf(HasSubstr("# all_reduce over shm (ours), owned buffers, link shm, 2 workers"),
                    HasSubstr("# all_reduce over gloo, private buffers, link tcp, algorithm ring, 2 workers"),
                    HasSubstr("# Average bus bandwidth: 4.00 GB/s"),
                    HasSubstr("# Average bus bandwidth: 0.520 GB/s")));
}

TEST(BenchTable, every_line_is_a_comment_or_a_row_of_thirteen_columns) {
  std::istringstream lines(bench_table(sample_report()));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    const std::vector<std::string> columns{std::istream_iterator<std::string>(words), {}};
    EXPECT_EQ(columns.size(), 13u) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 4);
}

TEST(BenchTable, shows_the_share_of_the_memory_copy_bandwidth) {
  EXPECT_THAT(bench_table(sample_report()), HasSubstr("50%"));
}

TEST(BenchJson, has_the_fields_of_schema_1) {
  const auto json = bench_json(sample_report());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["kind"], "bench");
  EXPECT_EQ(json["machine"]["host"], "somewhere");
  EXPECT_EQ(json["memory_copy_bytes_per_second"], 8e9);
  ASSERT_EQ(json["results"].size(), 4u);
  const auto& result = json["results"][3];
  EXPECT_EQ(result["backend"], "gloo");
  EXPECT_EQ(result["collective"], "all_reduce");
  EXPECT_EQ(result["workers"], 2);
  EXPECT_EQ(result["dtype"], "f32");
  EXPECT_EQ(result["op"], "sum");
  EXPECT_EQ(result["bytes"], 4000000);
  EXPECT_EQ(result["buffer"], "private");
  EXPECT_EQ(result["link"], "tcp");
  EXPECT_EQ(result["seconds"]["median"], 4e-3);
  EXPECT_EQ(result["wrong"], 0);
  EXPECT_NEAR(result["busbw_bytes_per_second"].get<double>(), 1e9, 1);
}

TEST(BenchJson, leaves_out_what_was_not_checked) {
  BenchReport report = sample_report();
  report.results[0].wrong.reset();
  EXPECT_FALSE(bench_json(report)["results"][0].contains("wrong"));
  EXPECT_THAT(bench_table(report), HasSubstr("N/A"));
}

TEST(BenchThreshold, names_only_the_lane_that_missed_it_at_the_largest_size) {
  try {
    require_fast(sample_report(), 2e9);
    FAIL() << "nothing was thrown";
  } catch (const base::ThresholdError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("gloo"), HasSubstr("1.00 GB/s"), Not(HasSubstr("shm"))));
  }
  EXPECT_NO_THROW(require_fast(sample_report(), 0.9e9));
}

TEST(BenchVerification, names_what_was_wrong) {
  BenchReport report = sample_report();
  EXPECT_NO_THROW(require_right(report));
  report.results[2].wrong = 3;
  try {
    require_right(report);
    FAIL() << "nothing was thrown";
  } catch (const base::VerificationError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("all_reduce over shm"), HasSubstr("3 wrong")));
  }
}

}  // namespace
}  // namespace lockstep::cli
