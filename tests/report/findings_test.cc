// The words about the whole job, axes, memory, bytes and questions, and how they are hedged.
#include "lockstep/report/words/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lockstep/lab/study_cells.h"
#include "lockstep/lab/study_parse.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A study of a labelled axis: a rule for the learning rate over two batches.
lab::Study rate_study(const std::string& question) {
  return lab::parse_study("name: made-rates\ntitle: Rates\nquestion: " + question + R"(
base: {model: lenet5, data: fashion-mnist, strategy: ddp, workers: 2}
axes:
  batch_size: [32, 128]
  rate:
    fixed: {learning_rate_scaling: none}
    linear: {learning_rate_scaling: linear}
tables: [summary]
)",
                          "made-rates.yaml");
}

// What the linear rule does to the losses, and to the speed.
std::vector<record::RunRecord> rate_records(double linear_loss, double linear_speed, bool repeats = false) {
  std::vector<record::RunRecord> records;
  for (const lab::Cell& cell : lab::cells_of(rate_study("Is it fast?"))) {
    const bool linear = cell.at("rate") == "linear";
    MadeRun run{
        .workers = 2, .batch = *cell.spec.batch_size, .losses = {0.9, 0.5, linear ? linear_loss : 0.3}};
    run.speed_factor = linear ? linear_speed : 1;
    for (record::RunRecord& record :
         repeats ? repeated(run, 0.1) : std::vector<record::RunRecord>{made_run(run)}) {
      record.study = "made-rates";
      record.cell = cell.name;
      records.push_back(std::move(record));
    }
  }
  return records;
}

std::string words_under(const Report& report, std::size_t paragraph) {
  std::string text;
  for (const Sentence& sentence : report.words.at(paragraph).sentences) text += sentence.text + "\n";
  return text;
}

TEST(Words, TheWholeJobNamesThePartThatGrewAndClaimsNoLaunchThatNobodyMeasured) {
  const Report report = report_of({with_wall(made_run({}), std::nullopt, 0.65, 2.4, 0.1, 3.6),
                                   with_wall(made_run({.workers = 8}), std::nullopt, 5.2, 2.4, 0.1, 10.0)});
  const Sentence* job = sentence_of(report, "job-not-sooner");
  ASSERT_NE(job, nullptr);
  EXPECT_THAT(job->text, HasSubstr("What grew: loading from 650 ms to 5.2 s (8 times)"));
  EXPECT_THAT(job->text, HasSubstr("launch and the rest from 450 ms to 2.3 s"));
  EXPECT_THAT(job->text, Not(HasSubstr("do not shrink")));
  for (const Evidence& rest : job->rests_on) EXPECT_THAT(rest.field, Not(HasSubstr("launch")));
  const Report known = report_of({with_wall(made_run({}), 0.3, 0.65, 2.4, 0.1, 3.6),
                                  with_wall(made_run({.workers = 8}), 0.3, 0.65, 0.4, 0.1, 1.6)});
  const std::string sooner = text_of_finding(known, "job-sooner");
  EXPECT_THAT(sooner, HasSubstr("What shrank: training from 2.4 s to 400 ms"));
  EXPECT_THAT(sooner, HasSubstr("about the same: the rest, launch, loading, validation"));
}

TEST(Words, TheWholeJobIsJudgedWhereEveryWorkerHasACore) {
  const Report report = report_of({with_wall(made_run({.cores = 2}), 0.1, 0.5, 2.4, 0.1, 3.1),
                                   with_wall(made_run({.workers = 2, .cores = 2}), 0.1, 0.5, 1.4, 0.1, 2.1),
                                   with_wall(made_run({.workers = 8, .cores = 2}), 0.1, 4, 2.4, 0.1, 6.6)});
  EXPECT_THAT(text_of_finding(report, "job-sooner"), HasSubstr("2.1 s with 2 workers: sooner"));
  EXPECT_THAT(text_of_finding(report, "job-beyond-cores"),
              HasSubstr("With 8 workers, more workers than cores, it takes 6.6 s. What grew: loading"));
}

TEST(Words, DivergenceIsSeenInTheValidationLossOfAnyEpoch) {
  const auto told = [](const std::vector<double>& val_losses) {
    return report_of({made_run({.losses = {2.3, 1.9, 1.7}}),
                      made_run({.workers = 8, .losses = {2.8, 2.7, 2.3}, .val_losses = val_losses})});
  };
  EXPECT_THAT(text_of_finding(told({59, 1.9e8, 3400}), "divergence"),
              HasSubstr("its validation loss reached 190,000,000 in epoch 2"));
  EXPECT_THAT(text_of_finding(told({2.5, 59, 2.4}), "unstable"), HasSubstr("came back to 2.4"));
  EXPECT_THAT(findings(told({2.5, 2.4, 3.4})), Not(Contains("divergence")));
  EXPECT_THAT(findings(told({2.5, 2.4, 3.4})), Not(Contains("unstable")));
}

TEST(Words, ALossThatIsThatOfGuessingIsCalledThat) {
  record::RunRecord run = made_run({.losses = {2.303, 2.302, 2.301}});
  run.epochs.back().val_accuracy = 0.1;
  const Report guessing = report_of({run});
  EXPECT_THAT(text_of_finding(guessing, "did-not-learn"), HasSubstr("2.301 is that of guessing (2.303)"));
  EXPECT_THAT(findings(report_of({made_run({})})), Not(Contains("did-not-learn")));
}

TEST(Words, EveryValueOfALabelledAxisIsComparedWithTheFirst) {
  const lab::Study study =
      rate_study("How do loss and accuracy change with the linear rule, and is it fast?");
  const Report report = report_of(rate_records(0.2, 1.5), &study);
  const std::string loss = text_of_finding(report, "axis-rate-train_loss");
  EXPECT_THAT(loss,
              HasSubstr("fixed 0.3 / 0.3; linear 0.2 / 0.2; against fixed: better in 2 of 2 with linear"));
  EXPECT_THAT(loss, HasSubstr("one run each: how much is noise is not known"));
  EXPECT_THAT(text_of_finding(report, "axis-rate"), HasSubstr("against fixed: linear 1.5 times / 1.5 times"));
  const Report worse = report_of(rate_records(0.6, 0.98), &study);
  EXPECT_THAT(text_of_finding(worse, "axis-rate-train_loss"), HasSubstr("worse in 2 of 2 with linear"));
  EXPECT_THAT(text_of_finding(worse, "axis-rate"), HasSubstr("linear is about as fast"));
}

TEST(Words, EqualFiguresAreCalledEqualAndNoiseNoise) {
  const lab::Study study = rate_study("How does the loss change with the linear rule, and is it fast?");
  const Report report = report_of(rate_records(0.3, 1.02, true), &study);
  EXPECT_THAT(text_of_finding(report, "axis-rate-train_loss"),
              HasSubstr("the same for every rate: 0.3 / 0.3"));
  EXPECT_THAT(text_of_finding(report, "axis-rate-noise"),
              HasSubstr("linear: no difference beyond the noise"));
  EXPECT_THAT(text_of_finding(report_of({made_run({}), made_run({.workers = 4})}), "same-loss"),
              HasSubstr("is the same: 0.3."));
}

TEST(Words, ACellThatCouldNotRunIsNamedWithItsReason) {
  const lab::Study study = rate_study("Is it fast?");
  std::vector<record::RunRecord> records = rate_records(0.2, 1.5);
  std::erase_if(records, [](const auto& record) { return record.cell == "batch_size=128,rate=linear"; });
  const Report report = build_report(
      {&study, {{"batch_size=128,rate=linear", "it needs GPUs. Try ddp."}}, std::move(records)}, {});
  EXPECT_THAT(text_of_finding(report, "not-run"),
              HasSubstr("Not run: batch 128 per worker, linear: it needs GPUs."));
}

TEST(Words, NoQuestionIsAnsweredInMoreThanAFewSentences) {
  lab::Study study = rate_study("Is it fast, and does it learn?");
  const Report report = report_of(rate_records(0.2, 1.5), &study);
  for (const Paragraph& paragraph : report.words) EXPECT_LE(paragraph.sentences.size(), 9U);
}

TEST(Words, ASentenceGoesToTheQuestionThatAsksForItFirst) {
  lab::Study study = published_study();
  study.questions = {"How do time and speedup change with the batch per worker?",
                     "At which batch does a larger one stop paying?"};
  const Report report = report_of(published_records(), &study);
  ASSERT_GE(report.words.size(), 2U);
  EXPECT_THAT(words_under(report, 0), HasSubstr("than one"));
  EXPECT_THAT(words_under(report, 0), Not(HasSubstr("too small")));
  EXPECT_THAT(words_under(report, 1), HasSubstr("Batch 32 per worker is too small"));
}

TEST(Words, SharedMemoryIsNoQuestionAboutMemoryAndRecomputedNoneAboutComputation) {
  EXPECT_THAT(topics_of("Is TCP slower than shared memory?"), Not(Contains(Topic::memory)));
  EXPECT_THAT(topics_of("Does a second worker fit, or recomputed activations?"), Not(Contains(Topic::costs)));
  EXPECT_THAT(topics_of("What does linear scaling do to the loss?"), Not(Contains(Topic::speed)));
}

TEST(Words, ABaselineThatDoesOtherWorkIsNone) {
  const Report report = report_of({made_run({.recompute = true}), made_run({.workers = 2})});
  EXPECT_THAT(findings(report), Not(Contains("faster")));
  EXPECT_THAT(findings(report_of({made_run({}), made_run({.workers = 2})})), Contains("faster"));
}

TEST(Words, WhatFittedIsToldWithItsPeakAndWhatFailedWithItsNeed) {
  record::RunRecord fitted = made_run({.workers = 2, .batch = 16});
  fitted.memory = record::MemoryFigures{138U << 20U, {{"activations", 138U << 20U}}, 256U << 20U};
  const Report report = report_of({out_of_memory_run({}), fitted});
  EXPECT_THAT(text_of_finding(report, "out-of-memory"),
              HasSubstr("(a step needs about 274 MiB, the cap is 256 MiB)"));
  EXPECT_THAT(text_of_finding(report, "fitted"), HasSubstr("138 MiB a worker of 256 MiB"));
  EXPECT_THAT(text_of_finding(report, "try-memory"), HasSubstr("recompute"));
  EXPECT_THAT(text_of_finding(report, "try-memory"), Not(HasSubstr("more workers")));
}

TEST(Words, WhatRanOutOfMemoryTooIsNoAdvice) {
  record::RunRecord recomputed = out_of_memory_run({.recompute = true});
  const Report report = report_of({out_of_memory_run({}), recomputed});
  EXPECT_THAT(text_of_finding(report, "try-memory"), AllOf(HasSubstr("zero1"), Not(HasSubstr("recompute"))));
}

TEST(Words, BytesAreHeldAgainstThePublishedOnesToTheByte) {
  lab::Study study = published_study();
  lab::Published column{"gradients", "a poster", "payload", "B", "gradient_payload_bytes", {}};
  const double bytes = 246824.0 * 3 * 64;  // 64 steps an epoch with 2 workers at 32, 3 epochs
  column.values.push_back({{{"batch_size", "32"}, {"workers", "2"}}, bytes});
  study.published = {column};
  EXPECT_THAT(text_of_finding(report_of(published_records(), &study), "published-bytes-equal"),
              HasSubstr("The figure equals the published one"));
  study.published[0].values[0].value += 1;
  const Report report = report_of(published_records(), &study);
  EXPECT_THAT(text_of_finding(report, "published-bytes-differ"),
              HasSubstr("47,390,208 against 47,390,209 B"));
  EXPECT_THAT(text_of_finding(report, "bytes-of-cell"), HasSubstr("gradient 47,390,208 B"));
}

TEST(Words, MoreThanIdealIsSuspectAndNotCalledGood) {
  MadeRun four;
  four.speed_factor = 1.2;
  const Report report = one_against_four(four);
  EXPECT_THAT(text_of_finding(report, "suspect-efficiency"), HasSubstr("is suspect"));
  EXPECT_THAT(findings(report), Not(Contains("all-well")));
}

TEST(Words, MoreWorkersAreNotAdvisedWhereAllCoresAreInUse) {
  const auto well = [](int cores) {
    std::vector<record::RunRecord> records = repeated({.cores = cores}, 0.01);
    add(records, repeated({.workers = 4, .cores = cores}, 0.01));
    return text_of_finding(report_of(std::move(records)), "all-well");
  };
  EXPECT_THAT(well(4), HasSubstr("All cores of this machine are in use"));
  EXPECT_THAT(well(64), HasSubstr("More workers are worth trying"));
}

TEST(Words, OversubscribedWorkersAreSaidToTakeTurnsInTheHeadlineItself) {
  const Report report = report_of({made_run({.cores = 2}), made_run({.workers = 4, .cores = 2})});
  EXPECT_THAT(text_of_finding(report, "faster"), HasSubstr("4 workers, more than there are cores"));
}

TEST(Words, AStragglerOfAFewStepsIsCalledThat) {
  MadeRun four = waiting_ranks();
  four.slow_rank = 2;
  four.workers = 4;
  record::RunRecord few = made_run(four);
  few.steps.count = 8;
  EXPECT_THAT(text_of_finding(report_of({made_run({}), few}), "straggler"),
              HasSubstr("in these few steps (3)"));
  EXPECT_THAT(text_of_finding(report_of({made_run({}), made_run(four)}), "straggler"),
              Not(HasSubstr("few steps")));
}

TEST(Words, AdviceAboutStragglersIsGivenOnceWhicheverRanksTheyAre) {
  std::vector<record::RunRecord> records;
  for (const int rank : {0, 1}) {
    MadeRun run = waiting_ranks();
    run.workers = 2;
    run.slow_rank = rank;
    run.backend = rank == 0 ? "shm" : "gloo";
    records.push_back(made_run(run));
  }
  const Report report = report_of(std::move(records));
  const std::vector<std::string> found = findings(report);
  EXPECT_EQ(std::count(found.begin(), found.end(), "try-straggler"), 1);
}

TEST(Words, AUseIsMostOfThePeakOnlyAboveAHalf) {
  const auto told = [](std::uint64_t activations) {
    record::RunRecord run = made_run({});
    run.memory = record::MemoryFigures{
        100, {{"activations", activations}, {"parameters", 30}, {"optimizer", 70 - activations}}, {}};
    return text_of_finding(report_of({run}), "memory-activations");
  };
  EXPECT_THAT(told(51), HasSubstr("most of it is activations (51 %)"));
  EXPECT_THAT(told(50), HasSubstr("the largest part of it is activations (50 %)"));
}

TEST(Words, DpIsNotHeldAgainstARing) {
  EXPECT_THAT(findings(report_of({made_run({.workers = 2, .strategy = "dp"})})), Not(Contains("wire")));
  EXPECT_THAT(findings(report_of({made_run({.workers = 2})})), Contains("wire"));
  EXPECT_THAT(text_of_finding(report_of({made_run({.workers = 2})}), "not-only-gradients"),
              HasSubstr("was moved"));
}

TEST(Words, WhatNeverWasOnAWireWasNotMoved) {
  record::RunRecord run = made_run({.workers = 2});
  const auto told = [&] { return text_of_finding(report_of({run}), "not-only-gradients"); };
  EXPECT_THAT(told(), AllOf(HasSubstr("metric"), Not(HasSubstr("input"))));
  for (record::LedgerLine& row : run.ledger)
    if (row.purpose == "input") row.wire_bytes = 8;
  EXPECT_THAT(told(), HasSubstr("input"));
}

TEST(Words, TheCellWhoseWireIsToldIsNamed) {
  EXPECT_THAT(text_of_finding(report_of({made_run({}), made_run({.workers = 2})}), "wire"),
              HasSubstr("With 2 workers, a rank sent"));
}

TEST(Words, ALearningRateThatFollowsIsSaidToFollow) {
  const auto told = [](const std::string& scaling) {
    return text_of_finding(
        report_of({made_run({.scaling = scaling}), made_run({.workers = 4, .scaling = scaling})}),
        "fewer-updates");
  };
  EXPECT_THAT(told("linear"), HasSubstr("the learning rate follows here"));
  EXPECT_THAT(told("none"), HasSubstr("unless the learning rate follows, which it does not here"));
}

TEST(Words, WhereTooFewCountsHadCoresThereIsNoProjectionAndThatIsSaid) {
  std::vector<record::RunRecord> records;
  for (const int workers : {1, 2, 4}) records.push_back(made_run({.workers = workers, .cores = 2}));
  EXPECT_THAT(text_of_finding(report_of(std::move(records)), "no-projection"),
              HasSubstr("only 2 worker counts were not oversubscribed"));
  EXPECT_THAT(findings(report_of({made_run({}), made_run({.workers = 2})})), Not(Contains("no-projection")));
}

TEST(Words, MeanStepsAreCalledMean) {
  MadeRun four;
  four.data = 0.040;
  const Report report = one_against_four(four);
  EXPECT_THAT(text_of_finding(report, "grew-data"), HasSubstr("the mean step grew"));
  EXPECT_THAT(text_of_finding(report, "data-bound"), HasSubstr("of the mean step"));
}

}  // namespace
}  // namespace lockstep::report
