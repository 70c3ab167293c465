// lockstep report through the real program: formats, files, and errors that say what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lockstep/record/record.h"
#include "tests/cli/program_run.h"
#include "tests/report/made_records.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class ReportProgram : public ::testing::Test {
 protected:
  ReportProgram() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-report-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::create_directory(folder_ / "store");
  }
  ~ReportProgram() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string write(const std::string& name, const std::vector<record::RunRecord>& records) const {
    nlohmann::json all = nlohmann::json::array();
    for (const record::RunRecord& record : records) all.push_back(record::to_json(record));
    std::ofstream(folder_ / name) << all;
    return (folder_ / name).string();
  }
  ProgramRun report(const std::string& arguments) const {
    return run_lockstep("report --store " + (folder_ / "store").string() + " " + arguments);
  }

  fs::path folder_;
};

std::vector<record::RunRecord> two_runs() {
  report::MadeRun many;
  many.workers = 2;
  return {report::made_run({}), report::made_run(many)};
}

TEST_F(ReportProgram, WritesTheFormatThatTheNameAsksFor) {
  const std::string records = write("records.json", two_runs());
  const std::pair<const char*, const char*> kinds[] = {
      {"out.html", "<!doctype html>"}, {"out.md", "> A report of 2 runs."}, {"out.json", "{"},
      {"out.tex", "% A report"},       {"out.txt", "A report of 2 runs."},  {"out.csv", "# summary"}};
  for (const auto& [name, start] : kinds) {
    const ProgramRun run = report(records + " -o " + (folder_ / name).string());
    EXPECT_EQ(run.exit_code, 0) << run.err;
    std::ifstream file(folder_ / name);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(text, StartsWith(start)) << name;
  }
}

TEST_F(ReportProgram, WritesAFileForEachTableOrChartIntoADirectory) {
  const std::string records = write("records.json", two_runs());
  EXPECT_EQ(report(records + " --format csv -o " + (folder_ / "tables/").string()).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "tables" / "scaling.csv"));
  EXPECT_EQ(report(records + " --format svg -o " + (folder_ / "charts/").string()).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "charts" / "split.svg"));
}

TEST_F(ReportProgram, ReadsRecordsLineByLine) {
  std::ofstream lines(folder_ / "records.jsonl");
  for (const record::RunRecord& record : two_runs()) lines << record::to_json(record).dump() << "\n";
  lines.close();
  const ProgramRun run = report((folder_ / "records.jsonl").string() + " --explain");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("- steps.samples_per_second at "));
}

TEST_F(ReportProgram, KnowsAnImportedStudyByItsName) {
  std::vector<record::RunRecord> records = two_runs();
  for (record::RunRecord& record : records) record.study = "elsewhere";
  std::ofstream lines(folder_ / "records.jsonl");
  for (const record::RunRecord& record : records) lines << record::to_json(record).dump() << "\n";
  lines.close();
  const std::string store = " --store " + (folder_ / "store").string();
  ASSERT_EQ(run_lockstep("runs import " + (folder_ / "records.jsonl").string() + store).exit_code, 0);
  const ProgramRun run = report("elsewhere");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("2 runs"));
  EXPECT_THAT(report("elsewehre").err, HasSubstr("has the studies elsewhere;"));
}

TEST_F(ReportProgram, SaysThatThereIsNoSuchStudyRunOrFile) {
  const ProgramRun run = report("batch-scalign");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("there is no study, run or file 'batch-scalign'. The store "));
  EXPECT_THAT(run.err, HasSubstr("holds no study; `lockstep runs list` shows its runs."));
}

TEST_F(ReportProgram, SaysThatTheStoreDoesNotExist) {
  fs::remove(folder_ / "store");
  const ProgramRun run = report("batch-scaling");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("store does not exist"));
}

TEST_F(ReportProgram, SaysThatAFileIsNoRecord) {
  std::ofstream(folder_ / "bad.json") << "{\"schema\": 99}";
  EXPECT_THAT(report((folder_ / "bad.json").string()).err, HasSubstr("bad.json"));
  std::ofstream(folder_ / "worse.json") << "not json";
  const ProgramRun run = report((folder_ / "worse.json").string());
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("worse.json:1: this is not JSON. Records come from"));
  EXPECT_THAT(run.err, Not(HasSubstr("exception")));
}

TEST_F(ReportProgram, SaysThatItCannotWriteThere) {
  const std::string records = write("records.json", two_runs());
  const ProgramRun run = report(records + " -o " + (folder_ / "absent" / "out.html").string());
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("out.html"));
}

TEST_F(ReportProgram, RefusesAnUnknownTableWithASuggestion) {
  const std::string records = write("records.json", two_runs());
  const ProgramRun run = report(records + " --only scalling");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("scalling"), HasSubstr("Did you mean 'scaling'")));
}

TEST_F(ReportProgram, SaysThatATableCannotBeDrawn) {
  const std::string records = write("records.json", two_runs());
  const ProgramRun run = report(records + " --only summary -o " + (folder_ / "x.svg").string());
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("summary is a table: `--format` html, md, csv, latex, json and term"));
}

TEST_F(ReportProgram, RefusesAFormatItDoesNotKnowAndANameThatSaysNone) {
  const std::string records = write("records.json", two_runs());
  EXPECT_EQ(report(records + " --format htlm").exit_code, 2);
  EXPECT_EQ(report(records + " -o " + (folder_ / "out.xyz").string()).exit_code, 2);
  EXPECT_EQ(report("").exit_code, 2);
}

}  // namespace
}  // namespace lockstep::testing
