// The words of a report: what happened and why, computed from the figures, and what to try next. A paragraph
// for each question of the study, then what was not asked about. docs/reports.md lists every finding with its
// threshold.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lockstep/report/model/sentence.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {

std::vector<Paragraph> words_of(const Subject& subject);

// Which part of the words answers which kind of question.
enum class Topic {
  speed,       // more workers: how fast, and why not faster
  ways,        // samples per second of each strategy, backend, ... against the first
  batch,       // too small, the knee
  job,         // the whole job, by part
  costs,       // computation and communication against the other axes
  bytes,       // by purpose, payload and wire, and as published
  memory,      // what fitted, what did not
  quality,     // divergence, loss, accuracy, PSNR
  targets,     // epochs until a target
  projection,  // what more workers would bring
  published    // what others claimed
};

using Sentences = std::vector<Sentence>;

// The sentences of each topic, the most important first.
Sentences speed_words(const Subject& subject);
Sentences way_words(const Subject& subject);
Sentences batch_words(const Subject& subject);
Sentences job_words(const Subject& subject);
Sentences cost_words(const Subject& subject);
Sentences bytes_words(const Subject& subject);
Sentences memory_words(const Subject& subject);
Sentences quality_words(const Subject& subject);
Sentences target_words(const Subject& subject);
Sentences projection_words(const Subject& subject);
Sentences published_words(const Subject& subject);
// Parts of the above that other files hold.
Sentences update_words(const Subject& subject);      // steps per epoch and effective batch: of quality
Sentences payload_words(const Subject& subject);     // the payload against the other axes: of bytes
Sentences comparison_words(const Subject& subject);  // quality against every axis: of quality
Sentences not_run_words(const Subject& subject);     // cells that could not run, and why: of ways
Sentences tail_words(const Subject& subject);        // mean steps far above the median: of speed
Sentences failure_words(const Subject& subject);     // cells of which no run finished, and why: of speed

// What stands for an answer where there is none; it names the cells that could not give one.
Sentence no_figures_sentence(const Grid& grid);

// Thresholds, as shares.
inline constexpr double kBoundShare = 0.15;         // of the step, from which a part is called what binds it
inline constexpr double kWellEfficiency = 0.9;      // from which scaling is called good
inline constexpr double kSuspectEfficiency = 1.05;  // above which it is called suspect
inline constexpr double kSlowRank = 1.2;            // times the other ranks' own time: a straggler
inline constexpr double kHeavyTail = 1.25;          // times the median step: a mean that long ones made
inline constexpr double kSmallBatchGain = 0.5;  // of the growth of the batch that comes back as throughput
// What single runs differ by on a quiet machine: less than that is no difference to speak of.
inline constexpr double kUsualNoise = 0.05;
inline constexpr int kFewSteps = 20;  // fewer measured steps say little about a rank

// The end of a sentence about figures whose noise nobody knows; empty where it is known.
class Hedge {
 public:
  void add(const Number& one, const Number& other);
  std::string_view text() const;

 private:
  bool unknown_ = false;
  bool repeated_ = false;  // some figure has repeats, if not both of a pair
};
std::string_view hedge_of(const Number& one, const Number& other);

// The topics that a question asks about, told from its words, in the order in which it asks; speed and
// quality where none is recognised.
std::vector<Topic> topics_of(const std::string& question);
// Which of the questions a sentence of that topic goes to: one that names the axis it compares before others,
// then the one that asks for the topic earliest in its own words, among equals the first. Nothing where none
// asks.
std::optional<std::size_t> question_for(const Sentence& sentence, Topic topic, const Grid& grid,
                                        const std::vector<std::string>& questions);
// Comparisons along axes that the question does not name come last.
void order_for(const std::string& question, const Grid& grid, Sentences& sentences);

Evidence evidence(std::string field, const GridCell& cell, double value, std::string_view unit = "");
Evidence evidence(std::string field, const GridCell& cell, const Number& number, std::string_view unit = "");

void append(Sentences& sentences, Sentences more);

}  // namespace lockstep::report
