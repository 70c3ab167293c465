// The words of a report: what happened and why, computed from the figures, and what to try next. A paragraph
// for each question of the study, then what was not asked about. docs/reports.md lists every finding with its
// threshold.
#pragma once

#include <vector>

#include "lockstep/report/model/sentence.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {

std::vector<Paragraph> words_of(const Subject& subject);

// Which part of the words answers which kind of question.
enum class Topic { speed, bytes, memory, quality, targets, projection, published };

using Sentences = std::vector<Sentence>;

// The sentences of each topic.
Sentences speed_words(const Subject& subject);  // how fast, and why not faster
Sentences batch_words(const Subject& subject);  // batch size: too small, the knee, steps per epoch
Sentences axis_words(const Subject& subject);   // the whole job, and what the other axes changed
Sentences bytes_words(const Subject& subject);
Sentences memory_words(const Subject& subject);
Sentences quality_words(const Subject& subject);  // divergence, loss against workers, noise
Sentences target_words(const Subject& subject);
Sentences projection_words(const Subject& subject);
Sentences published_words(const Subject& subject);

// Thresholds, as shares.
inline constexpr double kBoundShare = 0.15;     // of the step, from which a part is called what binds it
inline constexpr double kWellEfficiency = 0.9;  // from which scaling is called good
inline constexpr double kSlowRank = 1.2;        // times the other ranks' own time: a straggler
inline constexpr double kSmallBatchGain = 0.5;  // of the growth of the batch that comes back as throughput

// The topics that a question asks about, told from its words, in the order in which it asks; speed and
// quality where none is recognised.
std::vector<Topic> topics_of(const std::string& question);

Evidence evidence(std::string field, const GridCell& cell, double value, std::string_view unit = "");
Evidence evidence(std::string field, const GridCell& cell, const Number& number, std::string_view unit = "");

}  // namespace lockstep::report
