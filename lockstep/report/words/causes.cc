#include "lockstep/report/words/causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/report/model/cell_figures.h"

namespace lockstep::report {
namespace {

double step_of(const GridCell& cell) {
  double seconds = 0;
  for (const Span& span : kSpans)
    if (const auto number = span_seconds(cell, span)) seconds += number->value;
  return seconds;
}

// What was not measured binds nothing, and no sentence may call it 0.
double value_of(const std::optional<Number>& number) {
  return number ? number->value : 0;
}

std::optional<Number> exposed_of(const GridCell& cell) {
  return span_seconds(cell, kSpans[4]);
}

// What a rank did itself in a step: all of it but exposed communication.
std::optional<double> own_seconds(const record::RankFigures& rank) {
  if (!rank.split_seconds) return std::nullopt;
  double seconds = 0;
  for (const Span& span : kSpans)
    if (span.member != &record::SplitSeconds::exposed_comm)
      seconds += ((*rank.split_seconds).*span.member).value_or(0);
  return seconds;
}

struct SlowRank {
  int rank = 0;
  double own_seconds = 0;
  double others_seconds = 0;  // the median of the rest
};

double wait_of(const GridCell& cell, int rank) {
  for (const record::RankFigures& figures : cell.runs.front().per_rank)
    if (figures.rank == rank) return exposed_wait(figures).value_or(0);
  return 0;
}

// The rank that takes clearly longer than the others and waits for them much less than they for it
// (`longest`, seconds); by the first repeat.
std::optional<SlowRank> slow_rank(const GridCell& cell, double longest) {
  std::vector<std::pair<double, int>> own;
  for (const record::RankFigures& rank : cell.runs.front().per_rank)
    if (const auto seconds = own_seconds(rank)) own.emplace_back(*seconds, rank.rank);
  if (own.size() < 2) return std::nullopt;
  std::sort(own.begin(), own.end());
  std::vector<double> others;
  for (std::size_t i = 0; i + 1 < own.size(); ++i) others.push_back(own[i].first);
  const double median = base::median(others);
  if (own.back().first < kSlowRank * median || wait_of(cell, own.back().second) > longest / 2)
    return std::nullopt;
  return SlowRank{own.back().second, own.back().first, median};
}

Evidence step_evidence(const GridCell& cell) {
  return evidence("steps.split_seconds, summed", cell, step_of(cell), "s");
}

void add_data(Sentences& sentences, const GridCell& cell, double step) {
  const double data = value_of(span_seconds(cell, kSpans[0]));
  if (data < kBoundShare * step) return;
  const std::vector<Evidence> rests = {evidence("steps.split_seconds.data", cell, data, "s"),
                                       step_evidence(cell)};
  sentences.push_back(
      {"data-bound",
       fmt::format("With {}, {} of the mean step ({} of {}) is waiting for data: the run is data-bound.",
                   cell.label, percent(data / step), with_unit(data, "s"), with_unit(step, "s")),
       rests});
  sentences.push_back(
      {"try-data",
       "Try more loader_threads, a larger prefetch, or less work per sample (augment, image_size).", rests});
}

// A few steps may have been slow by accident.
std::string few_steps(const GridCell& cell) {
  const std::int64_t steps = measured_steps(cell);
  return steps < kFewSteps ? fmt::format(" in these few steps ({})", steps) : "";
}

void add_uneven(Sentences& sentences, const GridCell& cell, const RankWait& longest,
                const std::vector<Evidence>& rests) {
  sentences.push_back(
      {"uneven-ranks",
       fmt::format("With {}, rank {} waits for the others for {} of its mean step ({} of {}, what overlapped "
                   "with backward not counted){}, and no rank waits longer, though none is slow throughout: "
                   "their steps vary (a shared core, or noise).",
                   cell.label, longest.rank, percent(longest.wait.value / longest.step),
                   with_unit(longest.wait.value, "s"), with_unit(longest.step, "s"), few_steps(cell)),
       rests});
  sentences.push_back({"try-quiet",
                       "Look whether every rank has equal work and whether something else loads the machine; "
                       "try fewer workers than cores.",
                       rests});
}

// The longest wait of any rank: where the straggler is rank 0 itself, the others wait.
void add_straggler(Sentences& sentences, const GridCell& cell) {
  if (!knows_waits(cell)) return;
  const auto longest = longest_wait(cell);
  if (!longest || longest->step <= 0 || longest->wait.value < kBoundShare * longest->step) return;
  const std::string rank = fmt::format("per_rank[{}]", longest->rank);
  std::vector<Evidence> rests = {
      evidence(rank + ": the shorter of exposed_seconds and peer_wait_seconds", cell, longest->wait, "s"),
      evidence(rank + ".split_seconds, summed", cell, longest->step, "s")};
  const auto slow = slow_rank(cell, longest->wait.value);
  if (!slow) return add_uneven(sentences, cell, *longest, rests);
  rests.push_back(evidence(fmt::format("per_rank[{}].split_seconds without exposed_comm", slow->rank), cell,
                           slow->own_seconds, "s"));
  rests.push_back(evidence("the same of the other ranks, median", cell, slow->others_seconds, "s"));
  sentences.push_back(
      {"straggler",
       fmt::format("With {}, rank {} is a straggler{}: its own work takes {} of the mean step, the "
                   "others' {}, and they wait for it, rank {} the longest: {} of its mean step.",
                   cell.label, slow->rank, few_steps(cell), with_unit(slow->own_seconds, "s"),
                   with_unit(slow->others_seconds, "s"), longest->rank,
                   percent(longest->wait.value / longest->step)),
       rests});
  sentences.push_back(
      {"try-straggler",
       "Look at what else runs where a straggler does, and at its placement; a faster link would not help.",
       rests});
}

// How much of what crosses the link stayed exposed, as a sentence's ending.
std::string hidden_text(const GridCell& cell, std::vector<Evidence>& rests) {
  const auto hidden = figure(cell, "hidden_fraction");
  if (!hidden) return "";
  rests.push_back(evidence("comm.hidden_fraction", cell, *hidden));
  return fmt::format("; {} of the communication stayed exposed", percent(1 - hidden->value));
}

std::string link_text(const GridCell& cell, std::vector<Evidence>& rests) {
  const auto bus = figure(cell, "bus_bandwidth"), peak = link_peak(cell);
  if (!bus || !peak || peak->value <= 0) return "";
  rests.push_back(evidence("comm.bus_bandwidth", cell, *bus, "B/s"));
  rests.push_back(evidence("comm.link_peak", cell, *peak, "B/s"));
  const double share = bus->value / peak->value;
  return fmt::format("The link carried {} of its peak: {}. ", percent(share),
                     share > 0.7 ? "only fewer bytes or a faster link would help"
                                 : "larger buckets or another backend could carry more");
}

// What of the exposed time was not waiting for a peer; all of it where nobody knows that wait.
void add_communication(Sentences& sentences, const GridCell& cell, double step) {
  const double exposed = value_of(exposed_of(cell));
  const auto peer_wait = figure(cell, "peer_wait_seconds");
  const double wait = std::min(exposed, value_of(peer_wait)), moving = exposed - wait;
  if (moving < kBoundShare * step) return;
  std::vector<Evidence> rests = {evidence("steps.split_seconds.exposed_comm", cell, exposed, "s")};
  if (peer_wait) rests.push_back(evidence("comm.peer_wait_seconds", cell, wait, "s"));
  rests.push_back(step_evidence(cell));
  const std::string ending = hidden_text(cell, rests);
  sentences.push_back(
      {"communication-bound",
       fmt::format(
           "With {}, exposed communication takes {} of the mean step of rank 0 ({} of {}, waiting for peers "
           "{}){}: the run is communication-bound.",
           cell.label, percent(moving / step), with_unit(moving, "s"), with_unit(step, "s"),
           peer_wait ? "not counted" : "included", ending),
       rests});
  const std::string link = link_text(cell, rests);
  sentences.push_back(
      {"try-communication", link + "Try a larger batch per worker, compression, or another backend.", rests});
}

// "; exposed communication from 1 ms to 2 ms" of two steps; empty where one of them does not know it.
std::string exposed_text(const GridCell& from, const GridCell& to, std::vector<Evidence>& rests) {
  const auto before = exposed_of(from), after = exposed_of(to);
  if (!before || !after) return "";
  rests.push_back(evidence("steps.split_seconds.exposed_comm", from, before->value, "s"));
  rests.push_back(evidence("steps.split_seconds.exposed_comm", to, after->value, "s"));
  return fmt::format("; exposed communication from {} to {}", with_unit(before->value, "s"),
                     with_unit(after->value, "s"));
}

}  // namespace

bool knows_split(const GridCell& cell) {
  return span_seconds(cell, kSpans[0]) && exposed_of(cell);
}

bool knows_waits(const GridCell& cell) {
  if (!longest_wait(cell)) return false;
  const std::vector<record::RankFigures>& ranks = cell.runs.front().per_rank;
  return std::none_of(ranks.begin(), ranks.end(), [](const record::RankFigures& rank) {
    return own_seconds(rank) && !exposed_wait(rank);
  });
}

Sentences causes_of(const GridCell& cell) {
  Sentences sentences;
  const double step = cell.runs.empty() ? 0 : step_of(cell);
  if (step <= 0) return sentences;
  add_data(sentences, cell, step);
  if (cell.workers < 2) return sentences;
  add_straggler(sentences, cell);
  add_communication(sentences, cell, step);
  return sentences;
}

Sentences thread_growth_of(const GridCell& from, const GridCell& to, const ThreadChange& threads) {
  const double before = step_of(from), after = step_of(to);
  if (before <= 0 || after - before < 0.05 * before) return {};
  const auto computing = [](const GridCell& cell) {
    return value_of(figure(cell, "forward_seconds")) + value_of(figure(cell, "backward_seconds"));
  };
  std::vector<Evidence> rests = {step_evidence(from), step_evidence(to)};
  for (const GridCell* cell : {&from, &to})
    rests.push_back(evidence("steps.split_seconds.forward + backward", *cell, computing(*cell), "s"));
  const std::string exposed = exposed_text(from, to, rests);
  return {
      {"grew-threads",
       fmt::format("From {} to {} the mean step grew from {} to {}: forward and backward, with {} thread{} a "
                   "worker instead of {}, from {} to {}{}.",
                   from.label, to.label, with_unit(before, "s"), with_unit(after, "s"), threads.many,
                   threads.many == 1 ? "" : "s", threads.one, with_unit(computing(from), "s"),
                   with_unit(computing(to), "s"), exposed),
       rests}};
}

Sentences growth_of(const GridCell& from, const GridCell& to) {
  const double before = step_of(from), after = step_of(to), growth = after - before;
  if (before <= 0 || growth < 0.05 * before) return {};
  const Span* most = nullptr;
  double largest = 0;
  for (const Span& span : kSpans) {
    const auto then = span_seconds(from, span), now = span_seconds(to, span);
    if (!then || !now || now->value - then->value <= largest) continue;
    largest = now->value - then->value;
    most = &span;
  }
  if (most == nullptr) return {};
  const std::string field = std::string("steps.split_seconds.") + most->field;
  return {{std::string("grew-") + most->field,
           fmt::format("From {} to {} the mean step grew from {} to {}; {} accounts for {} of that.",
                       from.label, to.label, with_unit(before, "s"), with_unit(after, "s"), most->words,
                       percent(std::min(1.0, largest / growth))),
           {step_evidence(from), step_evidence(to),
            evidence(field, from, value_of(span_seconds(from, *most)), "s"),
            evidence(field, to, value_of(span_seconds(to, *most)), "s")}}};
}

}  // namespace lockstep::report
