#include "lockstep/lab/run_index.h"

#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/record_exchange.h"
#include "lockstep/lab/run_execution.h"
#include "tests/lab/store_fixture.h"

namespace lockstep::lab {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class RunIndexTest : public StoreTest {
 protected:
  RunDirectory add_run(const std::string& study = "", int repeat = 1) const {
    std::optional<StudyPlace> place;
    if (!study.empty()) place = StudyPlace{study, "workers=1", repeat};
    RunDirectory run = RunDirectory::create(store, {}, place);
    add_rank(run, 0, 3);
    return run;
  }
  std::vector<IndexedRun> runs() const { return RunIndex::open(store).runs(); }
};

TEST_F(RunIndexTest, follows_the_directories_whoever_wrote_them) {
  EXPECT_THAT(runs(), IsEmpty());
  const RunDirectory first = add_run();
  EXPECT_FALSE(runs().at(0).has_record);
  conclude(first, {});
  EXPECT_EQ(runs().at(0).status, "finished");
  first.remove();
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(RunIndexTest, finds_the_runs_of_a_study_with_their_place) {
  conclude(add_run("mine", 2), {});
  conclude(add_run("other"), {});
  const auto mine = RunIndex::open(store).runs("mine");
  ASSERT_THAT(mine, SizeIs(1));
  EXPECT_EQ(mine[0].cell, "workers=1");
  EXPECT_EQ(mine[0].repeat, 2);
  EXPECT_THAT(records_of_study(store, "mine"), SizeIs(1));
}

TEST_F(RunIndexTest, sees_that_a_record_was_damaged_since) {
  const RunDirectory run = add_run("mine");
  conclude(run, {});
  EXPECT_TRUE(runs().at(0).damage.empty());
  std::filesystem::resize_file(run.record_file(), 200);
  EXPECT_THAT(runs().at(0).damage, ::testing::HasSubstr("is damaged"));
  EXPECT_THAT(records_of_study(store, "mine"), IsEmpty());
}

TEST_F(RunIndexTest, a_record_counts_once_however_often_it_is_named) {
  const record::RunRecord record = conclude(add_run(), {});
  EXPECT_THAT(each_once({record, record}), SizeIs(1));
  record::RunRecord other = record;
  other.status = "failed";
  EXPECT_THROW(each_once({record, other}), base::DataError);
}

TEST_F(RunIndexTest, a_rebuilt_index_equals_the_index) {
  for (int i = 0; i < 3; ++i) conclude_run(add_run("mine", i + 1), {}, nlohmann::json::object());
  add_run("mine", 4);
  const std::vector<IndexedRun> before = runs();
  EXPECT_EQ(RunIndex::rebuild(store).runs(), before);
}

TEST_F(RunIndexTest, a_damaged_index_costs_time_only) {
  conclude(add_run(), {});
  const std::vector<IndexedRun> before = runs();
  std::ofstream(index_file(store)) << "this is no database, and it is long enough to be looked at as one";
  EXPECT_EQ(runs(), before);
  EXPECT_EQ(RunIndex::rebuild(store).runs(), before);
}

TEST_F(RunIndexTest, two_writers_lose_nothing) {
  const auto write = [&](const std::string& study) {
    for (int i = 1; i <= 20; ++i) conclude_run(add_run(study, i), {}, nlohmann::json::object());
  };
  std::thread other([&] { write("b"); });
  write("a");
  other.join();
  EXPECT_THAT(RunIndex::open(store).runs("a"), SizeIs(20));
  EXPECT_THAT(RunIndex::open(store).runs("b"), SizeIs(20));
}

TEST_F(RunIndexTest, records_travel_to_another_store_as_they_are) {
  const record::RunRecord record = conclude(add_run("mine"), {});
  const std::filesystem::path file = store / "out.jsonl";
  append(file, to_json_lines(std::vector{record}));
  const std::filesystem::path elsewhere = store / "elsewhere";
  EXPECT_EQ(import_record(elsewhere, read_records(file).at(0)), Imported::added);
  EXPECT_EQ(import_record(elsewhere, read_records(file).at(0)), Imported::known);
  EXPECT_EQ(records_of_study(elsewhere, "mine").at(0), record);
  EXPECT_EQ(read_records(elsewhere).at(0), record);
}

TEST_F(RunIndexTest, csv_has_a_column_for_every_field_and_quotes_what_needs_it) {
  record::RunRecord record = conclude(add_run("mine"), {});
  record.cell = "a \"b\", c";
  const std::string csv = to_csv(std::vector{record});
  EXPECT_THAT(csv, ::testing::HasSubstr("\"a \"\"b\"\", c\""));
  const std::string header = csv.substr(0, csv.find("\r\n"));
  EXPECT_THAT(header,
              ::testing::AllOf(::testing::HasSubstr(",workers,"), ::testing::HasSubstr(",step_seconds,")));
  EXPECT_EQ(std::count(header.begin(), header.end(), ','),
            std::count(csv.begin() + static_cast<std::ptrdiff_t>(csv.find("\r\n")), csv.end(), ',') - 1)
      << "one comma stands inside quotes";
}

}  // namespace
}  // namespace lockstep::lab
