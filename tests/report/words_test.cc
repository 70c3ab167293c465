// The words: each situation made by hand is named as what it is, and named otherwise when the figures are.
#include "lockstep/report/words/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string> kCauses = {"communication-bound", "data-bound", "straggler", "uneven-ranks"};

void expect_only_cause(const Report& report, const std::string& cause) {
  const std::vector<std::string> found = findings(report);
  for (const std::string& other : kCauses) {
    if (other == cause)
      EXPECT_THAT(found, Contains(other));
    else
      EXPECT_THAT(found, Not(Contains(other)));
  }
}

TEST(Words, CommunicationBoundIsNamedWithItsShareAndWhatStayedExposed) {
  MadeRun four;
  four.exposed = 0.030;
  four.busy = 0.040;
  const Report report = one_against_four(four);
  expect_only_cause(report, "communication-bound");
  EXPECT_THAT(text_of_finding(report, "communication-bound"),
              HasSubstr("75 % of the communication stayed exposed"));
  EXPECT_THAT(findings(report), Contains("grew-exposed_comm"));
  EXPECT_THAT(findings(report), Contains("try-communication"));
}

TEST(Words, DataBoundIsNamed) {
  MadeRun four;
  four.data = 0.040;
  const Report report = one_against_four(four);
  expect_only_cause(report, "data-bound");
  EXPECT_THAT(findings(report), Contains("grew-data"));
  EXPECT_THAT(text_of_finding(report, "try-data"), HasSubstr("loader_threads"));
}

TEST(Words, AStragglerIsNamedByItsRankAndNotTakenForASlowLink) {
  MadeRun four = waiting_ranks();
  four.slow_rank = 2;
  const Report report = one_against_four(four);
  expect_only_cause(report, "straggler");
  EXPECT_THAT(text_of_finding(report, "straggler"), HasSubstr("rank 2"));
}

TEST(Words, ASlowRankThatWaitsAsLongAsTheOthersIsNoStraggler) {
  MadeRun four = waiting_ranks();
  four.slow_rank = 2;
  four.slow_rank_wait = 0.028;
  expect_only_cause(one_against_four(four), "uneven-ranks");
}

TEST(Words, RanksThatWaitWithoutASlowOneAreCalledUneven) {
  expect_only_cause(one_against_four(waiting_ranks()), "uneven-ranks");
}

TEST(Words, ABatchThatIsTooSmallIsNamed) {
  std::vector<record::RunRecord> records;
  for (const std::int64_t batch : {32, 128}) {
    MadeRun run;
    run.batch = batch;  // the step takes the same time for four times the samples
    add(records, repeated(run, 0.01));
  }
  const Report report = report_of(std::move(records));
  EXPECT_THAT(text_of_finding(report, "batch-too-small"), HasSubstr("Batch 32 per worker is too small"));
}

TEST(Words, ABatchWhoseGrowthGainsNothingIsTheKneeAndNotTooSmall) {
  std::vector<record::RunRecord> records;
  for (const std::int64_t batch : {32, 128}) {
    MadeRun run;
    run.batch = batch;
    const double work = static_cast<double>(batch) / 32;
    run.data *= work;
    run.forward *= work;
    run.backward *= work;
    run.optimizer *= work;
    add(records, repeated(run, 0.01));
  }
  const Report report = report_of(std::move(records));
  EXPECT_THAT(findings(report), Not(Contains("batch-too-small")));
  EXPECT_THAT(text_of_finding(report, "knee"), HasSubstr("batch 32 per worker"));
}

TEST(Words, DivergenceIsNamedWhateverItsKind) {
  const std::vector<std::vector<double>> diverging = {
      {0.5, 0.4, std::nan("")}, {0.05, 0.4, 0.8}, {0.82, 0.8, 0.8}};
  for (const std::vector<double>& losses : diverging) {
    std::vector<record::RunRecord> records = {made_run({.losses = {0.06, 0.03, 0.019}})};
    records.push_back(made_run({.workers = 8, .losses = losses, .scaling = "linear"}));
    const Report report = report_of(std::move(records));
    EXPECT_THAT(text_of_finding(report, "divergence"), HasSubstr("8 workers"));
    EXPECT_THAT(findings(report), Contains("try-warmup"));
  }
}

TEST(Words, ALossThatFallsSlowlyIsNotDivergence) {
  std::vector<record::RunRecord> records = {made_run({.losses = {0.06, 0.03, 0.019}})};
  records.push_back(made_run({.workers = 4, .losses = {0.2, 0.09, 0.046}}));
  const Report report = report_of(std::move(records));
  EXPECT_THAT(findings(report), Not(Contains("divergence")));
  EXPECT_THAT(findings(report), Contains("higher-loss"));
  EXPECT_THAT(text_of_finding(report, "fewer-updates"), HasSubstr("from 32 at one worker to 128 at 4"));
}

TEST(Words, WhatAveragingDidToTheLossIsToldAsItWas) {
  const auto told = [](double factor) {
    return report_of({made_run({.workers = 2, .own_loss_factor = factor}), made_run({.workers = 4})});
  };
  EXPECT_THAT(text_of_finding(told(1.5), "averaging-helps"), HasSubstr("brought the validation loss"));
  EXPECT_THAT(text_of_finding(told(0.5), "averaging-hurts"), HasSubstr("raised the validation loss"));
  EXPECT_THAT(text_of_finding(told(0.95), "averaging-same"), HasSubstr("about as it was"));
}

TEST(Words, ADifferenceSmallerThanTheNoiseIsCalledThat) {
  MadeRun four;
  four.speed_factor = 0.27;  // four workers, 8 % more samples per second
  const Report noisy = one_against_four(four, 0.2);
  EXPECT_THAT(findings(noisy), Contains("noise"));
  EXPECT_THAT(findings(noisy), Not(Contains("faster")));
  const Report quiet = one_against_four(four, 0.002);
  EXPECT_THAT(findings(quiet), Contains("faster"));
  EXPECT_THAT(findings(quiet), Not(Contains("noise")));
}

TEST(Words, SingleRunsThatDifferByLittleAreCalledAlike) {
  MadeRun four;
  four.workers = 4;
  four.speed_factor = 0.251;
  EXPECT_THAT(text_of_finding(report_of({made_run({}), made_run(four)}), "alike"),
              HasSubstr("4 workers are about as fast as one"));
  four.speed_factor = 0.5;
  EXPECT_THAT(findings(report_of({made_run({}), made_run(four)})), Contains("faster"));
}

TEST(Words, AllWellIsCalledThat) {
  const Report report = one_against_four({});
  expect_only_cause(report, "none");
  EXPECT_THAT(findings(report), Contains("all-well"));
  EXPECT_THAT(text_of_finding(report, "faster"), HasSubstr("4 workers are faster than one"));
}

TEST(Words, FlippedFiguresFlipTheSentence) {
  MadeRun slow;
  slow.speed_factor = 0.2;
  const Report report = one_against_four(slow);
  EXPECT_THAT(text_of_finding(report, "slower"), HasSubstr("4 workers are slower than one"));
  EXPECT_THAT(findings(report), Not(Contains("faster")));
  EXPECT_THAT(findings(report), Not(Contains("all-well")));
}

TEST(Words, EverySentenceKnowsWhatItRestsOn) {
  for (const Report& report : {report_of(rich_records(false)), report_of(published_records())})
    for (const Paragraph& paragraph : report.words)
      for (const Sentence& sentence : paragraph.sentences)
        if (sentence.finding != "more" && sentence.finding != "target-missed") {
          EXPECT_THAT(sentence.rests_on, Not(IsEmpty())) << sentence.text;
        }
}

TEST(Words, APublishedClaimThatItsOwnTableContradictsIsNotRepeated) {
  const lab::Study study = published_study();
  const Report report = report_of(published_records(), &study);
  const std::string text = text_of_finding(report, "claim-contradicted");
  EXPECT_THAT(text, HasSubstr("15.127"));
  EXPECT_THAT(text, HasSubstr("15.664"));
  for (const Paragraph& paragraph : report.words)
    for (const Sentence& sentence : paragraph.sentences)
      EXPECT_THAT(sentence.text, Not(HasSubstr("4 GPUs are slower")));
}

TEST(Words, APublishedClaimThatItsTableBearsOutIsRepeatedAsTheirs) {
  lab::Study study = published_study();
  std::swap(study.claims[0].lower, study.claims[0].higher);
  study.claims[0].text = "4 GPUs are faster than 2 at batch 512.";
  const Report report = report_of(published_records(), &study);
  EXPECT_THAT(text_of_finding(report, "claim-kept"),
              HasSubstr("the lab report's text says: 4 GPUs are faster"));
  EXPECT_THAT(findings(report), Not(Contains("claim-contradicted")));
}

TEST(Words, EachQuestionHasItsParagraphAndNothingIsSaidTwice) {
  const lab::Study study = published_study();
  const Report report = report_of(published_records(), &study);
  ASSERT_GE(report.words.size(), 2U);
  EXPECT_EQ(report.words[0].question, "Are more workers faster, and why not?");
  EXPECT_EQ(report.words[1].question, "Which bytes are moved?");
  std::vector<std::string> texts;
  for (const Paragraph& paragraph : report.words)
    for (const Sentence& sentence : paragraph.sentences) {
      EXPECT_THAT(texts, Not(Contains(sentence.text)));
      texts.push_back(sentence.text);
    }
}

TEST(Words, OversubscribedRunsAreNamedAndKeptOutOfProjections) {
  std::vector<record::RunRecord> records;
  for (const int workers : {1, 2, 4}) records.push_back(made_run({.workers = workers, .cores = 2}));
  const Report report = report_of(std::move(records));
  EXPECT_THAT(findings(report), Not(Contains("projection")));
  records.clear();
  for (const int workers : {1, 2, 4}) records.push_back(made_run({.workers = workers, .cores = 8}));
  EXPECT_THAT(findings(report_of(std::move(records))), Contains("projection"));
}

TEST(Words, AProjectionRestsOnTheCountThatItPredicted) {
  std::vector<record::RunRecord> records;
  for (const int workers : {1, 2, 4, 8}) records.push_back(made_run({.workers = workers, .cores = 4}));
  const Report report = report_of(std::move(records));
  EXPECT_THAT(text_of_finding(report, "projection"), HasSubstr("at 4; "));
  for (const Paragraph& paragraph : report.words)
    for (const Sentence& sentence : paragraph.sentences) {
      if (sentence.finding != "projection") continue;
      for (const Evidence& rest : sentence.rests_on) EXPECT_EQ(rest.cell, "4 workers");
    }
}

}  // namespace
}  // namespace lockstep::report
