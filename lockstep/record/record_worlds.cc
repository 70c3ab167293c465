#include "lockstep/record/record_worlds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lockstep/base/statistics.h"

namespace lockstep::record {
namespace {

// A mean over ranks, weighed by how many samples each rank saw; ranks that do not say count equally.
class WeightedMean {
 public:
  void add(const std::optional<double>& value, const std::optional<std::int64_t>& weight) {
    if (!value) return;
    const double share = static_cast<double>(weight.value_or(1));
    sum_ += *value * share;
    weight_ += share;
  }
  std::optional<double> value() const { return weight_ > 0 ? std::optional(sum_ / weight_) : std::nullopt; }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

// Quality on held-out samples, over ranks.
class QualityMean {
 public:
  void add(const QualityFigures& quality, const std::optional<std::int64_t>& samples) {
    loss_.add(quality.val_loss, samples);
    accuracy_.add(quality.val_accuracy, samples);
    psnr_.add(quality.val_psnr, samples);
    any_ = true;
  }
  std::optional<QualityFigures> value() const {
    if (!any_) return std::nullopt;
    return QualityFigures{loss_.value(), accuracy_.value(), psnr_.value()};
  }

 private:
  WeightedMean loss_, accuracy_, psnr_;
  bool any_ = false;
};

using RankedEpoch = std::pair<int, const EpochEvent*>;

EpochFigures summarise(const std::vector<RankedEpoch>& ranks) {
  WeightedMean train_loss, train_accuracy, val_loss, val_accuracy, val_psnr;
  QualityMean before;
  EpochFigures figures;
  for (const auto& [rank, event] : ranks) {
    train_loss.add(event->train_loss, event->train_samples);
    train_accuracy.add(event->train_accuracy, event->train_samples);
    val_loss.add(event->val_loss, event->val_samples);
    val_accuracy.add(event->val_accuracy, event->val_samples);
    val_psnr.add(event->val_psnr, event->val_samples);
    if (event->before_averaging) before.add(*event->before_averaging, event->val_samples);
    figures.per_rank.push_back({rank, event->train_loss, event->train_accuracy, event->val_loss,
                                event->val_accuracy, event->val_psnr, event->before_averaging});
  }
  const EpochEvent& first = *ranks.front().second;
  figures.epoch = first.epoch;
  figures.seconds = first.seconds;
  figures.learning_rate = first.learning_rate;
  figures.train_loss = train_loss.value();
  figures.train_accuracy = train_accuracy.value();
  figures.val_loss = val_loss.value();
  figures.val_accuracy = val_accuracy.value();
  figures.val_psnr = val_psnr.value();
  figures.before_averaging = before.value();
  figures.unfinished = first.unfinished;
  return figures;
}

std::vector<double> percents_of(std::span<const Event> events, std::optional<int> rank) {
  std::vector<double> percents;
  for (const Event& event : events) {
    const auto* sample = std::get_if<UtilisationEvent>(&event.body);
    if (sample != nullptr && (!rank || event.rank == *rank)) percents.push_back(sample->device_percent);
  }
  return percents;
}

// The last one, finished or not, where none was.
const EpochEvent* last_finished(const std::vector<const EpochEvent*>& epochs) {
  const auto last = std::find_if(epochs.rbegin(), epochs.rend(),
                                 [](const EpochEvent* epoch) { return !epoch->unfinished.value_or(false); });
  if (last != epochs.rend()) return *last;
  return epochs.empty() ? nullptr : epochs.back();
}

RankFigures figures_of_rank(std::span<const Event> events, int rank) {
  const auto steps = measured_steps(events, rank);
  RankFigures figures;
  figures.rank = rank;
  figures.split_seconds = mean_split(steps);
  figures.primitives_seconds = mean_by_name(steps, &StepEvent::primitives_seconds);
  figures.busy_seconds = mean_of(steps, [](const StepEvent& step) { return step.busy_seconds; });
  figures.exposed_seconds = mean_of(steps, [](const StepEvent& step) { return step.exposed_seconds; });
  figures.peer_wait_seconds = mean_of(steps, [](const StepEvent& step) { return step.peer_wait_seconds; });
  if (const auto memory = bodies_of<MemoryEvent>(events, rank); !memory.empty()) {
    figures.peak_bytes = memory.back()->peak_bytes;
  }
  if (const auto percents = percents_of(events, rank); !percents.empty()) {
    figures.device_percent_mean = base::mean(percents);
  }
  if (const EpochEvent* epoch = last_finished(bodies_of<EpochEvent>(events, rank))) {
    figures.train_loss = epoch->train_loss;
    figures.val_loss = epoch->val_loss;
  }
  return figures;
}

}  // namespace

std::vector<EpochFigures> epoch_figures(std::span<const Event> events) {
  // A resumed run repeats the epoch it was stopped in: the later event of a rank replaces the earlier one.
  std::map<std::int64_t, std::map<int, const EpochEvent*>> by_epoch;
  for (const Event& event : events) {
    if (const auto* epoch = std::get_if<EpochEvent>(&event.body)) by_epoch[epoch->epoch][event.rank] = epoch;
  }
  std::vector<EpochFigures> figures;
  for (const auto& [epoch, ranks] : by_epoch) {
    figures.push_back(summarise(std::vector<RankedEpoch>(ranks.begin(), ranks.end())));
  }
  return figures;
}

std::vector<LedgerLine> ledger_lines(std::span<const Event> events, int world) {
  std::vector<LedgerLine> lines;
  for (int rank = 0; rank < world; ++rank) {
    const auto ledgers = bodies_of<LedgerEvent>(events, rank);
    if (ledgers.empty()) continue;
    for (LedgerLine line : ledgers.back()->rows) {
      line.rank = rank;
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::optional<MemoryFigures> worst_memory(std::span<const Event> events, int world) {
  std::optional<MemoryFigures> worst;
  for (int rank = 0; rank < world; ++rank) {
    const auto memory = bodies_of<MemoryEvent>(events, rank);
    if (memory.empty()) continue;
    if (!worst || memory.back()->peak_bytes > worst->peak_bytes) worst = *memory.back();
  }
  return worst;
}

std::optional<UtilizationFigures> utilization_figures(std::span<const Event> events) {
  const std::vector<double> percents = percents_of(events, std::nullopt);
  if (percents.empty()) return std::nullopt;
  return UtilizationFigures{base::mean(percents), thin(percents).values};
}

std::vector<RankFigures> rank_figures(std::span<const Event> events, int world) {
  std::vector<RankFigures> figures;
  for (int rank = 0; rank < world; ++rank) figures.push_back(figures_of_rank(events, rank));
  return figures;
}

std::vector<std::string> warning_texts(std::span<const Event> events, int world) {
  std::vector<std::string> order;
  std::map<std::string, std::set<int>> said_by;
  for (const Event& event : events) {
    const auto* warning = std::get_if<WarningEvent>(&event.body);
    if (warning == nullptr) continue;
    auto& ranks = said_by[warning->message];
    if (ranks.empty()) order.push_back(warning->message);
    ranks.insert(event.rank);
  }
  for (std::string& text : order) {
    const auto& ranks = said_by[text];
    const bool all = static_cast<int>(ranks.size()) == world;
    if (!all) text = fmt::format("rank{} {}: {}", ranks.size() > 1 ? "s" : "", fmt::join(ranks, ", "), text);
  }
  return order;
}

std::optional<FailureFigures> first_failure(std::span<const Event> events, std::optional<int> rank) {
  std::optional<FailureFigures> first;
  for (const Event& event : events) {
    const auto* failed = std::get_if<FailedEvent>(&event.body);
    if (failed == nullptr || (rank && event.rank != *rank)) continue;
    // All ranks stop for a signal; who said so first is not to blame.
    const int blamed = failed->kind == "interrupted" ? failed->signalled_rank.value_or(-1) : event.rank;
    if (!first || first->kind == "collateral")
      first = FailureFigures{blamed, failed->kind, failed->message, failed->needed_bytes, failed->cap_bytes};
    if (first->kind != "collateral") break;
  }
  return first;
}

}  // namespace lockstep::record
