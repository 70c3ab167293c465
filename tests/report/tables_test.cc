// Grids and tables: cells, machines, scaling against one worker, intervals, exact bytes, published figures.
#include "lockstep/report/tables/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/report/model/knee.h"
#include "lockstep/report/model/scaling.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::optional<Number> at(const Table& table, std::size_t row, const std::string& key) {
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    if (table.columns[column].key == key) return table.rows.at(row)[column].number;
  return std::nullopt;
}

TEST(Grid, FillsInTheBatchThatASpecSaysInTheOtherWay) {
  record::RunRecord global = made_run({.workers = 2, .batch = 16});
  global.spec.erase("batch_size");
  global.spec["global_batch"] = 32;
  const Grid grid = make_grid(nullptr, {}, {made_run({.workers = 2, .batch = 32}), global});
  ASSERT_EQ(grid.cells.size(), 2u);
  EXPECT_EQ(grid.cells[0].label, "batch 16 per worker, global batch 32");
  EXPECT_EQ(grid.cells[1].label, "batch 32 per worker, global batch 64");
}

TEST(Grid, RepeatsOfASpecAreOneCell) {
  const Grid grid = make_grid(nullptr, {}, repeated({}, 0.1));
  ASSERT_EQ(grid.cells.size(), 1U);
  EXPECT_EQ(grid.cells[0].runs.size(), 3U);
}

TEST(Grid, TheMachineIsAnAxisWhenRecordsOfSeveralMeet) {
  const Grid one = make_grid(nullptr, {}, {made_run({}), made_run({.workers = 2})});
  EXPECT_EQ(one.find_axis("machine"), nullptr);
  const Grid two = make_grid(nullptr, {}, {made_run({}), made_run({.host = "beta"})});
  ASSERT_NE(two.find_axis("machine"), nullptr);
  EXPECT_EQ(two.cells.size(), 2U);
  EXPECT_EQ(two.cells[1].label, "beta");
}

TEST(Grid, AStudyKeepsItsMachinesApart) {
  const lab::Study study = published_study();
  std::vector<record::RunRecord> records = published_records();
  for (record::RunRecord record : published_records()) {
    record.machine["host"] = "beta";
    records.push_back(std::move(record));
  }
  const Grid grid = make_grid(&study, {}, std::move(records));
  EXPECT_EQ(grid.cells.size(), 12U);
  EXPECT_TRUE(grid.warnings.empty());
}

TEST(Grid, ARunOfACellThatTheStudyDoesNotHaveIsSaidAndLeftOut) {
  const lab::Study study = published_study();
  std::vector<record::RunRecord> records = published_records();
  records[0].cell = "workers=99";
  EXPECT_EQ(make_grid(&study, {}, std::move(records)).warnings.size(), 1U);
}

TEST(Scaling, WeakAndStrongAreApartAndBothAgainstOneWorker) {
  std::vector<record::RunRecord> records;
  for (const std::int64_t batch : {32, 64})
    for (const int workers : {1, 2}) records.push_back(made_run({.workers = workers, .batch = batch}));
  const Grid grid = make_grid(nullptr, {}, std::move(records));
  const auto families = scaling_families(grid);
  ASSERT_EQ(families.size(), 3U);  // weak at 32 and 64, strong at a global batch of 64
  EXPECT_EQ(families[0].scaling, predict::Scaling::weak);
  EXPECT_EQ(families[2].scaling, predict::Scaling::strong);
  EXPECT_EQ(families[2].steps[0].cell->batch.per_worker, 64);
  EXPECT_EQ(families[2].steps[1].cell->batch.per_worker, 32);
  for (const ScalingFamily& family : families) EXPECT_EQ(family.steps[0].speedup->value, 1);
}

TEST(Scaling, OneWorkerOfAnotherStrategyStandsInWhereThereIsNoneOfTheSame) {
  const Grid grid =
      make_grid(nullptr, {}, {made_run({.strategy = "single"}), made_run({.workers = 2, .strategy = "ddp"})});
  const auto families = scaling_families(grid);
  ASSERT_EQ(families.size(), 1U);
  EXPECT_NEAR(families[0].steps[1].speedup->value, 1.97, 0.02);
}

TEST(Knee, IsTheBatchFromWhichTheNextGainsLittle) {
  std::vector<record::RunRecord> records;
  for (const std::int64_t batch : {32, 128, 512}) {
    MadeRun run{.batch = batch};
    run.backward = batch < 512 ? 0.02 : 0.14;
    records.push_back(made_run(run));
  }
  const Grid grid = make_grid(nullptr, {}, std::move(records));
  const auto ladders = batch_ladders(grid);
  ASSERT_EQ(ladders.size(), 1U);
  ASSERT_NE(ladders[0].knee, nullptr);
  EXPECT_EQ(ladders[0].knee->batch.per_worker, 128);
}

TEST(Tables, ShowTheMedianOverRepeatsWithItsInterval) {
  const Grid grid = make_grid(nullptr, {}, repeated({}, 0.1));
  const auto table = make_table("summary", {grid});
  ASSERT_TRUE(table);
  const auto speed = at(*table, 0, "samples_per_second");
  ASSERT_TRUE(speed && speed->interval);
  EXPECT_EQ(speed->repeats, 3);
  EXPECT_LT(speed->interval->low, speed->value);
  EXPECT_GT(speed->interval->high, speed->value);
}

TEST(Tables, AnIntervalOfWhatCannotBeNegativeIsNot) {
  const auto number = estimate(std::vector<double>{1, 3});
  ASSERT_TRUE(number && number->interval);
  EXPECT_EQ(number->interval->low, 0);
  EXPECT_GT(number->interval->high, 3);
}

TEST(Tables, BytesAreExactAndTakenFromTheLedger) {
  record::RunRecord run = made_run({.workers = 2});
  run.ledger.clear();
  record::LedgerLine line;
  line.purpose = "gradient";
  line.collective = "all_reduce";
  line.link = "shm";
  line.payload_bytes = 39915000;
  line.wire_bytes = 39915000;
  run.ledger.push_back(line);
  const Grid grid = make_grid(nullptr, {}, {run});
  const auto table = make_table("bytes", {grid});
  ASSERT_TRUE(table);
  EXPECT_EQ(at(*table, 0, "gradient_payload_bytes")->value, 39915000);
  bool shown = false;
  for (std::size_t column = 0; column < table->columns.size(); ++column)
    shown = shown || table->text_of(0, column) == "39,915,000";
  EXPECT_TRUE(shown);
}

TEST(Tables, WhatNoRecordKnowsIsLeftOut) {
  const Grid grid = make_grid(nullptr, {}, {made_run({})});
  EXPECT_FALSE(make_table("primitives", {grid}));
  EXPECT_FALSE(make_table("averaging", {grid}));
  EXPECT_FALSE(make_table("published", {grid}));
  EXPECT_FALSE(make_table("scaling", {grid}));
}

TEST(Tables, AveragingShowsTheRanksOwnModelsAndTheAverageInTheFirstAndLastEpoch) {
  const Grid grid =
      make_grid(nullptr, {}, {made_run({.workers = 2, .losses = {0.8, 0.5, 0.2}, .own_loss_factor = 1.5})});
  const auto table = make_table("averaging", {grid});
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(at(*table, 0, "epoch")->value, 1);
  EXPECT_DOUBLE_EQ(at(*table, 0, "val_loss_after")->value, 0.8 * 1.1);
  EXPECT_EQ(at(*table, 1, "epoch")->value, 3);
  EXPECT_DOUBLE_EQ(at(*table, 1, "least_val_loss_before")->value, 0.2 * 1.1 * 1.5);
  EXPECT_DOUBLE_EQ(at(*table, 1, "val_loss_before")->value, 0.2 * 1.1 * 1.55);
  EXPECT_DOUBLE_EQ(at(*table, 1, "most_val_loss_before")->value, 0.2 * 1.1 * 1.6);
  EXPECT_DOUBLE_EQ(at(*table, 1, "val_loss_after")->value, 0.2 * 1.1);
}

TEST(Tables, PublishedColumnsStandBesideOursAndSayWhoseTheyAre) {
  const lab::Study study = published_study();
  const Grid grid = make_grid(&study, {}, published_records());
  const auto table = make_table("published", {grid, &study});
  ASSERT_TRUE(table);
  EXPECT_EQ(at(*table, 0, "published:epoch")->value, 15.664);
  EXPECT_TRUE(at(*table, 0, "ours:epoch"));
  EXPECT_THAT(table->heading_of(2), HasSubstr("published: epoch"));
  EXPECT_EQ(table->columns[2].published_by, "a lab report");
}

TEST(Tables, OursStandOnceBesideWhatSeveralMachinesPublished) {
  lab::Study study = published_study();
  lab::Published other = study.published.front();
  study.published.front().name = "epoch, T4";
  other.name = "epoch, DGX";
  study.published.insert(study.published.begin() + 1, other);
  const Grid grid = make_grid(&study, {}, published_records());
  const auto table = make_table("published", {grid, &study});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns[2].key, "published:epoch, T4");
  EXPECT_EQ(table->columns[3].key, "published:epoch, DGX");
  EXPECT_EQ(table->columns[4].heading, "ours: epoch");
  EXPECT_TRUE(at(*table, 0, "ours:epoch"));
  for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->columns.size());
}

TEST(Tables, ThePartsOfTheWholeJobMakeItUp) {
  const Grid grid = make_grid(nullptr, {}, {with_wall(made_run({}), std::nullopt, 0.5, 2.0, 0.25, 3.5)});
  const auto table = make_table("minutes", {grid});
  ASSERT_TRUE(table);
  EXPECT_DOUBLE_EQ(at(*table, 0, "rest_seconds")->value, 0.75);
  EXPECT_FALSE(at(*table, 0, "launch_seconds"));
  bool named = false;
  for (const TableColumn& column : table->columns) named = named || column.heading == "launch and the rest";
  EXPECT_TRUE(named);
}

TEST(Tables, AnAccuracysIntervalIsAShare) {
  record::RunRecord low = made_run({.losses = {0.9}}), high = made_run({.losses = {0.01}, .repeat = 2});
  const Grid grid = make_grid(nullptr, {}, {low, high});
  const auto accuracy = figure(grid.cells[0], "val_accuracy");
  ASSERT_TRUE(accuracy && accuracy->interval);
  EXPECT_EQ(accuracy->interval->high, 1);
}

TEST(Tables, ALongFailureIsShortInItsRowAndWholeBelow) {
  const Grid grid = make_grid(nullptr, {}, {out_of_memory_run({}), made_run({.workers = 2})});
  const auto table = make_table("summary", {grid});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0].back().text, "out of memory: a step needs about 274 MiB, the cap is 256 MiB");
  EXPECT_THAT(table->note, HasSubstr("24.5 MiB more for activations"));
}

TEST(Tables, AReasonIsGivenOnceAndAnAbsurdIntervalInWords) {
  const Grid grid = make_grid(nullptr,
                              {{"only",
                                "it is refused: it needs GPUs. Try ddp.; it is refused: it needs GPUs. "
                                "Try ddp.; all 2 repeats, interval ±1116.3 %"}},
                              {made_run({})});
  const auto table = make_table("summary", {grid});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0].back().text,
            "it is refused: it needs GPUs; all 2 repeats, interval wider than the value");
}

TEST(Tables, ARunThatDidNotFinishIsCountedAmongTheRepeats) {
  const Grid grid = make_grid(nullptr, {}, {out_of_memory_run({}), made_run({.workers = 2})});
  const auto table = make_table("summary", {grid});
  ASSERT_TRUE(table);
  EXPECT_EQ(at(*table, 0, "repeats")->value, 1);
  EXPECT_EQ(at(*table, 1, "repeats")->value, 1);
}

TEST(Tables, TheSummarySaysWhatIsAMedianAndWhatFollowsTheMean) {
  const Grid grid = make_grid(nullptr, {}, {made_run({})});
  EXPECT_THAT(make_table("summary", {grid})->note, HasSubstr("samples per second follow its mean step"));
}

TEST(Tables, ThePartsOfAStepShareAUnitAndSumOnlyWithinARun) {
  const Grid once = make_grid(nullptr, {}, {made_run({.forward = 1.5})});
  const auto table = make_table("split", {once});
  ASSERT_TRUE(table);
  for (std::size_t column = 1; column < table->columns.size(); ++column)
    EXPECT_THAT(table->heading_of(column), EndsWith(", s"));
  EXPECT_THAT(table->note, HasSubstr("the parts sum to the mean step"));
  const Grid often = make_grid(nullptr, {}, repeated({}, 0.1));
  EXPECT_THAT(make_table("split", {often})->note, HasSubstr("medians need not"));
}

TEST(Labels, OfOneAxisHaveOneForm) {
  const GridAxis buffers{"buffers", {"local", "broadcast", "sync"}};
  EXPECT_EQ(point_text(buffers, "local"), "buffers local");
  EXPECT_EQ(point_text(buffers, "sync"), "buffers sync");
  const GridAxis rate{"rate", {"fixed", "linear"}};
  EXPECT_EQ(point_text(rate, "fixed"), "fixed");
  const GridAxis clip{"clip_norm", {"", "1.5"}};
  EXPECT_EQ(point_text(clip, ""), "no clip norm");
  EXPECT_EQ(point_text(clip, "1.5"), "clip norm 1.5");
}

TEST(Tables, ATableThatKnowsNothingBesidesItsCellsIsLeftOut) {
  std::vector<record::RunRecord> records = {made_run({}), made_run({.workers = 2})};
  for (record::RunRecord& record : records) record.steps.split_seconds.reset();
  const Grid grid = make_grid(nullptr, {}, std::move(records));
  EXPECT_FALSE(make_table("split", {grid}));
}

TEST(Tables, OursAreMarkedAsCutInAQuickVariant) {
  lab::Study study = published_study();
  study.cut = "3 steps instead of an epoch";
  const Grid grid = make_grid(&study, {}, published_records());
  const auto table = make_table("published", {grid, &study});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns[3].heading, "ours, cut: epoch");
  EXPECT_THAT(table->note, HasSubstr("Ours were cut (3 steps instead of an epoch)"));
  EXPECT_THAT(table->note, HasSubstr("alpha (Test CPU, 64 cores)"));
  study.cut = "nothing that is counted";
  EXPECT_EQ(make_table("published", {grid, &study})->columns[3].heading, "ours: epoch");
  study.choice.sets = {{"data_dir", "elsewhere", "--set"}};
  EXPECT_EQ(make_table("published", {grid, &study})->columns[3].heading, "ours: epoch");
  study.choice.sets.push_back({"train_samples", "640", "--set"});
  EXPECT_EQ(make_table("published", {grid, &study})->columns[3].heading, "ours, cut: epoch");
}

TEST(Tables, WhatACellThatRanOutNeededIsShown) {
  const Grid grid = make_grid(nullptr, {}, {out_of_memory_run({}), made_run({.workers = 2})});
  const auto table = make_table("memory", {grid});
  ASSERT_TRUE(table);
  EXPECT_EQ(at(*table, 0, "needed_bytes")->value, 274.0 * 1048576);
  EXPECT_EQ(at(*table, 0, "cap_bytes")->value, 256.0 * 1048576);
}

TEST(Tables, ExposedMayExceedBusyAndHiddenIsThenNothing) {
  record::RunRecord run = made_run({.workers = 2, .strategy = "dp"});
  run.comm.busy_seconds = 0.01;
  run.comm.exposed_seconds = 0.03;
  const Grid grid = make_grid(nullptr, {}, {run});
  const auto table = make_table("exposure", {grid});
  ASSERT_TRUE(table);
  EXPECT_EQ(at(*table, 0, "hidden_seconds")->value, 0);
  EXPECT_THAT(table->note, HasSubstr("it may exceed busy"));
}

TEST(Display, KeepsFourDigitsAndOneUnitAColumn) {
  EXPECT_EQ(display_number(1234567), "1,234,567");
  EXPECT_EQ(display_number(0.012345), "0.01235");
  EXPECT_EQ(display_number(12.3), "12.3");
  EXPECT_EQ(with_unit(0.0123, "s"), "12.3 ms");
  EXPECT_EQ(with_unit(2.5e9, "B/s"), "2.5 GB/s");
  EXPECT_EQ(display_exact(188160000), "188,160,000");
  EXPECT_EQ(exact_text(0.1), "0.1");
}

}  // namespace
}  // namespace lockstep::report
