// What batch size did: too small, the knee.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <span>

#include "lockstep/base/text.h"
#include "lockstep/report/model/knee.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostLadders = 2;

std::string of_ladder(const BatchLadder& ladder) {
  return ladder.label.empty() ? "" : " with " + ladder.label;
}

std::string sentence_start(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

// The batch in the units of batch_text(), where that was said just before.
std::string batch_number(const GridCell& cell) {
  const std::string global = cell.at("global_batch");
  return global.empty() ? std::to_string(cell.batch.per_worker) : global;
}

std::vector<Evidence> speeds(const GridCell& small, const GridCell& large) {
  return {evidence("steps.samples_per_second", small, *figure(small, "samples_per_second"), "1/s"),
          evidence("steps.samples_per_second", large, *figure(large, "samples_per_second"), "1/s")};
}

// How much of the growth of the batch came back as throughput: 1 when a step takes the same time for more.
double gain_share(const GridCell& small, const GridCell& large) {
  const double speed =
      figure(large, "samples_per_second")->value / figure(small, "samples_per_second")->value;
  return std::log(speed) /
         std::log(static_cast<double>(large.batch.per_worker) / static_cast<double>(small.batch.per_worker));
}

// More than a step of equal length for more samples would give: no cost of a step explains it.
bool is_suspect(const GridCell& small, const GridCell& large) {
  const double speed =
      figure(large, "samples_per_second")->value / figure(small, "samples_per_second")->value;
  return speed > kSuspectEfficiency * static_cast<double>(large.batch.per_worker) /
                     static_cast<double>(small.batch.per_worker);
}

Sentence suspect_sentence(const BatchLadder& ladder, const Number& first, const Number& second) {
  const GridCell &small = *ladder.rungs[0], &large = *ladder.rungs[1];
  return {
      "suspect-batch",
      fmt::format("{} measured {} times the samples per second of {}{}, with {} times "
                  "the batch: more than equally long steps would give, so that noise or another load "
                  "slowed the steps at {}. Whether {} is too small cannot be told; more repeats would tell.",
                  sentence_start(batch_text(large)), display_number(second.value / first.value),
                  batch_number(small), of_ladder(ladder),
                  display_number(static_cast<double>(large.batch.per_worker) /
                                 static_cast<double>(small.batch.per_worker)),
                  batch_number(small), batch_number(small)),
      speeds(small, large)};
}

// The knee where there is one; beyond it a larger batch is not worth trying.
std::string batch_to_try(const BatchLadder& ladder) {
  if (ladder.knee != nullptr) return batch_text(*ladder.knee) + ", the knee";
  const std::string next = batch_text(*ladder.rungs[1]);
  return ladder.out_of_memory != nullptr ? next : next + " or more";
}

void add_small_batch(Sentences& sentences, const BatchLadder& ladder) {
  const GridCell &small = *ladder.rungs[0], &large = *ladder.rungs[1];
  if (ladder.knee == &small || large.batch.per_worker <= small.batch.per_worker) return;
  if (gain_share(small, large) < kSmallBatchGain) return;
  const auto first = *figure(small, "samples_per_second"), second = *figure(large, "samples_per_second");
  if (clearly_differ(first, second) == false) return;
  if (is_suspect(small, large)) return sentences.push_back(suspect_sentence(ladder, first, second));
  const std::vector<Evidence> rests = speeds(small, large);
  sentences.push_back(
      {"batch-too-small",
       fmt::format("{} is too small{}: {} gives {} times the samples per "
                   "second, so most of the step at {} is a cost that does not depend on the "
                   "batch{}.",
                   sentence_start(batch_text(small)), of_ladder(ladder), batch_number(large),
                   display_number(second.value / first.value), batch_number(small), hedge_of(first, second)),
       rests});
  sentences.push_back({"try-batch",
                       fmt::format("Try {}{}, and scale the learning rate with warm-up.",
                                   batch_to_try(ladder), of_ladder(ladder)),
                       rests});
}

// Ladders that ended alike, told together.
struct LadderGroup {
  std::vector<std::string> names;
  std::vector<Evidence> rests;
  Hedge hedge;

  void add(const std::string& name, const GridCell& before, const GridCell& after) {
    names.push_back(name);
    for (Evidence& rest : speeds(before, after)) rests.push_back(std::move(rest));
    hedge.add(*figure(before, "samples_per_second"), *figure(after, "samples_per_second"));
  }
  // " with A; B; C and 2 more", nothing where there is but one ladder without a name.
  std::string places() const {
    constexpr std::size_t kMost = 4;
    const std::size_t shown = std::min(kMost, names.size());
    const std::string more = names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "";
    const std::string text = base::join(std::span(names).first(shown), "; ");
    return text.empty() ? "" : " with " + text + more;
  }
};

const GridCell& next_rung(const BatchLadder& ladder, const GridCell& rung) {
  return **(std::find(ladder.rungs.begin(), ladder.rungs.end(), &rung) + 1);
}

// "gains less than 5.0 %"; of one that is that much slower, "is 12 % slower".
std::string gain_text(const GridCell& here, const GridCell& next) {
  const double gain =
      figure(next, "samples_per_second")->value / figure(here, "samples_per_second")->value - 1;
  if (gain > -kLeastGain) return fmt::format("gains less than {}", percent(kLeastGain));
  return fmt::format("is {} slower", percent(-gain));
}

void add_knees(Sentences& sentences, const std::vector<BatchLadder>& ladders) {
  std::map<std::pair<std::int64_t, std::string>, LadderGroup> groups;  // by the knee's batch and the gain
  std::map<std::int64_t, std::string> names;
  for (const BatchLadder& ladder : ladders) {
    if (ladder.knee == nullptr) continue;
    const GridCell &knee = *ladder.knee, &next = next_rung(ladder, knee);
    names[knee.batch.per_worker] = batch_text(knee);
    groups[{knee.batch.per_worker, gain_text(knee, next)}].add(ladder.label, knee, next);
  }
  for (const auto& [kind, group] : groups)
    sentences.push_back({"knee",
                         fmt::format("The knee is {}{}: the next larger one {}{}.", names[kind.first],
                                     group.places(), kind.second, group.hedge.text()),
                         group.rests});
}

// Ladders in which noise hides whether a larger batch pays.
void add_unclear(Sentences& sentences, const std::vector<BatchLadder>& ladders) {
  LadderGroup group;
  for (const BatchLadder& ladder : ladders) {
    if (ladder.unclear == nullptr) continue;
    const GridCell& next = next_rung(ladder, *ladder.unclear);
    group.add(fmt::format("{}{} against {}", ladder.label.empty() ? "" : ladder.label + ", ",
                          batch_text(next), batch_number(*ladder.unclear)),
              *ladder.unclear, next);
  }
  if (!group.names.empty())
    sentences.push_back({"knee-noise",
                         fmt::format("Where the knee is cannot be told{}: whether the larger batch gains {} "
                                     "is hidden by the noise. More repeats or longer runs would tell.",
                                     group.places(), percent(kLeastGain)),
                         group.rests});
}

// Ladders that ended without a knee: every larger batch that was tried paid.
void add_still_paying(Sentences& sentences, const std::vector<BatchLadder>& ladders) {
  LadderGroup group;
  for (const BatchLadder& ladder : ladders) {
    if (ladder.knee != nullptr || ladder.unclear != nullptr || ladder.out_of_memory != nullptr) continue;
    const GridCell &before = **(ladder.rungs.end() - 2), &last = *ladder.rungs.back();
    const double gain =
        figure(last, "samples_per_second")->value / figure(before, "samples_per_second")->value;
    group.add(fmt::format("{}{} ({} times {})", ladder.label.empty() ? "" : ladder.label + ", ",
                          batch_text(last), display_number(gain), batch_number(before)),
              before, last);
  }
  if (!group.names.empty())
    sentences.push_back(
        {"no-knee",
         fmt::format("The largest batch still paid{}{}: no knee.", group.places(), group.hedge.text()),
         group.rests});
}

void add_memory_ends(Sentences& sentences, const std::vector<BatchLadder>& ladders) {
  for (const BatchLadder& ladder : ladders)
    if (ladder.knee == nullptr && ladder.unclear == nullptr && ladder.out_of_memory != nullptr)
      sentences.push_back({"memory-before-knee",
                           fmt::format("Memory ended{} before the knee: {} ran out of memory.",
                                       of_ladder(ladder), ladder.out_of_memory->label),
                           {{"status", ladder.out_of_memory->label, "out_of_memory"}}});
}

bool is_oversubscribed_ladder(const BatchLadder& ladder) {
  return std::any_of(ladder.rungs.begin(), ladder.rungs.end(),
                     [](const GridCell* cell) { return cell->oversubscribed; });
}

}  // namespace

Sentences batch_words(const Subject& subject) {
  Sentences sentences;
  std::vector<BatchLadder> ladders = batch_ladders(subject.grid);
  // Workers that take turns say little about batches: they are told only where there are no others.
  if (!std::all_of(ladders.begin(), ladders.end(), is_oversubscribed_ladder))
    std::erase_if(ladders, is_oversubscribed_ladder);
  add_knees(sentences, ladders);
  add_unclear(sentences, ladders);
  add_memory_ends(sentences, ladders);
  add_still_paying(sentences, ladders);
  if (ladders.size() > kMostLadders) ladders.resize(kMostLadders);
  for (const BatchLadder& ladder : ladders) add_small_batch(sentences, ladder);
  return sentences;
}

}  // namespace lockstep::report
