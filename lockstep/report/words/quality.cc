// What was learnt: divergence, the loss against workers, epochs until a target.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/report/model/averaging.h"
#include "lockstep/report/model/targets.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostCells = 8;

// Why a run's losses are called divergence; empty where they are not.
struct Divergence {
  std::string why;
  std::vector<Evidence> rests;
};

std::optional<double> first_loss(const record::RunRecord& run) {
  return run.epochs.empty() ? std::nullopt : run.epochs.front().train_loss;
}

std::optional<double> last_loss(const record::RunRecord& run) {
  return run.epochs.empty() ? std::nullopt : run.epochs.back().train_loss;
}

// The lowest final loss of any cell of the same model and data.
std::optional<double> best_loss(const Grid& grid, const GridCell& cell) {
  std::optional<double> best;
  for (const GridCell& other : grid.cells) {
    if (other.at("model") != cell.at("model") || other.at("data") != cell.at("data")) continue;
    const auto loss = figure(other, "train_loss");
    if (loss && std::isfinite(loss->value)) best = std::min(best.value_or(loss->value), loss->value);
  }
  return best;
}

std::optional<Divergence> divergence_of(const Grid& grid, const GridCell& cell) {
  for (const record::RunRecord& run : cell.runs) {
    const auto first = first_loss(run), last = last_loss(run);
    if (!first || !last) continue;
    const std::vector<Evidence> rests = {evidence("epochs[0].train_loss", cell, *first),
                                         evidence("epochs[last].train_loss", cell, *last)};
    if (!std::isfinite(*last)) return Divergence{"its loss is no longer a finite number", rests};
    if (run.epochs.size() > 1 && *last > 1.2 * *first)
      return Divergence{fmt::format("its loss rose from {} after the first epoch to {}",
                                    display_number(*first), display_number(*last)),
                        rests};
    const auto best = best_loss(grid, cell);
    if (run.epochs.size() > 1 && best && *last > 10 * *best && *last > 0.9 * *first)
      return Divergence{fmt::format("its loss stayed at {}, where {} was reached elsewhere",
                                    display_number(*last), display_number(*best)),
                        rests};
  }
  return std::nullopt;
}

std::string scaling_of(const GridCell& cell) {
  const auto& spec = cell.runs.front().spec;
  return spec.is_object() ? spec.value("learning_rate_scaling", "none") : "none";
}

bool warms_up(const GridCell& cell) {
  const auto& spec = cell.runs.front().spec;
  return spec.is_object() && spec.value("warmup_epochs", 0.0) > 0;
}

Sentence advice(const GridCell& cell, const std::vector<Evidence>& rests) {
  const bool scaled_rate = scaling_of(cell) == "linear" && cell.workers > 1;
  if (scaled_rate && !warms_up(cell))
    return {"try-warmup",
            "Its learning rate was multiplied with the workers and not warmed up: try warmup_epochs, or no "
            "scaling.",
            rests};
  return {"try-learning-rate", "Try a smaller learning rate, warm-up, or clip_norm.", rests};
}

// Final losses at the fewest and the most workers, where neither diverged.
void add_loss_by_workers(Sentences& sentences, const Subject& subject) {
  const GridCell *few = nullptr, *many = nullptr;
  for (const GridCell& one : subject.grid.cells)
    for (const GridCell& other : subject.grid.cells) {
      const bool same = std::all_of(one.point.begin(), one.point.end(), [&](const lab::AxisPoint& at) {
        return at.axis == "workers" || other.at(at.axis) == at.value;
      });
      if (!same || one.workers >= other.workers || !figure(one, "train_loss") || !figure(other, "train_loss"))
        continue;
      if (divergence_of(subject.grid, one) || divergence_of(subject.grid, other)) continue;
      if (few != nullptr && other.workers - one.workers <= many->workers - few->workers) continue;
      few = &one;
      many = &other;
    }
  if (few == nullptr) return;
  const Number before = *figure(*few, "train_loss"), after = *figure(*many, "train_loss");
  const auto differ = clearly_differ(before, after);
  const double change = after.value / before.value - 1;
  std::string text =
      fmt::format("The final training loss is {} with {} and {} with {}", display_number(before.value),
                  few->label, display_number(after.value), many->label);
  std::string finding = std::abs(change) < 0.02 ? "same-loss" : change > 0 ? "higher-loss" : "lower-loss";
  if (differ && !*differ) {
    finding = "loss-noise";
    text += ": a difference smaller than the noise.";
  } else {
    text += differ ? "." : " (one run each: how much is noise is not known).";
  }
  sentences.push_back({finding,
                       text,
                       {evidence("epochs[last].train_loss", *few, before),
                        evidence("epochs[last].train_loss", *many, after)}});
}

void add_quality_figure(Sentences& sentences, const Subject& subject, std::string_view name,
                        const char* words, const char* field, double factor, const char* unit) {
  const GridCell *best = nullptr, *worst = nullptr;
  for (const GridCell& cell : subject.grid.cells) {
    const auto here = figure(cell, name);
    if (!here || !std::isfinite(here->value)) continue;
    if (best == nullptr || here->value > figure(*best, name)->value) best = &cell;
    if (worst == nullptr || here->value < figure(*worst, name)->value) worst = &cell;
  }
  if (best == nullptr || best == worst) return;
  const Number high = scaled(*figure(*best, name), factor), low = scaled(*figure(*worst, name), factor);
  const bool noisy = clearly_differ(high, low) == false;
  sentences.push_back({noisy ? "quality-noise" : "quality",
                       fmt::format("{} ranges from {} {} ({}) to {} {} ({}){}.", words,
                                   display_number(low.value), unit, worst->label, display_number(high.value),
                                   unit, best->label, noisy ? ", a difference smaller than the noise" : ""),
                       {evidence(field, *worst, low, unit), evidence(field, *best, high, unit)}});
}

// localsgd at the most workers: what averaging did to the last epoch's validation loss.
void add_averaging(Sentences& sentences, const Subject& subject) {
  const GridCell* most = nullptr;
  for (const GridCell& cell : subject.grid.cells)
    if (cell.workers > 1 && averaging_of(cell, AveragedEpoch::last) &&
        (most == nullptr || cell.workers > most->workers))
      most = &cell;
  if (most == nullptr) return;
  const Averaging averaging = *averaging_of(*most, AveragedEpoch::last);
  if (!averaging.mean_loss || !averaging.loss_after) return;
  const Number before = *averaging.mean_loss, after = *averaging.loss_after;
  if (!std::isfinite(before.value) || !std::isfinite(after.value)) return;
  const double change = after.value / before.value - 1;
  const bool same = std::abs(change) < 0.02;
  sentences.push_back(
      {same         ? "averaging-same"
       : change < 0 ? "averaging-helps"
                    : "averaging-hurts",
       fmt::format("With {}, averaging the weights {} the validation loss of the last epoch {} {} to {}.",
                   most->label,
                   same         ? "left"
                   : change < 0 ? "brought"
                                : "raised",
                   same ? "about as it was: from" : "from", display_number(before.value),
                   display_number(after.value)),
       {evidence("epochs[last].before_averaging.val_loss", *most, before),
        evidence("epochs[last].val_loss", *most, after)}});
}

}  // namespace

Sentences quality_words(const Subject& subject) {
  Sentences sentences;
  std::size_t told = 0;
  for (const GridCell& cell : subject.grid.cells) {
    const auto divergence = cell.runs.empty() ? std::nullopt : divergence_of(subject.grid, cell);
    if (!divergence || told++ >= kMostCells) continue;
    sentences.push_back({"divergence",
                         fmt::format("With {} training diverged: {}.", cell.label, divergence->why),
                         divergence->rests});
    sentences.push_back(advice(cell, divergence->rests));
  }
  add_loss_by_workers(sentences, subject);
  add_averaging(sentences, subject);
  add_quality_figure(sentences, subject, "val_accuracy", "Validation accuracy", "epochs[last].val_accuracy",
                     100, "%");
  add_quality_figure(sentences, subject, "val_psnr", "Validation PSNR", "epochs[last].val_psnr", 1, "dB");
  return sentences;
}

Sentences target_words(const Subject& subject) {
  Sentences sentences;
  for (const lab::Target& target : targets_of(subject.study, subject.grid)) {
    std::vector<Evidence> rests;
    const GridCell* first = nullptr;
    std::size_t cells = 0, there = 0;
    for (const GridCell& cell : subject.grid.cells) {
      if (cell.runs.empty()) continue;
      ++cells;
      const auto epochs = epochs_until(cell, target);
      if (!epochs) continue;
      ++there;
      if (first == nullptr || epochs->value < epochs_until(*first, target)->value) first = &cell;
    }
    if (first == nullptr) {
      sentences.push_back(
          {"target-missed", fmt::format("No cell reached {} within its epochs.", target_text(target)), {}});
      continue;
    }
    const Number epochs = *epochs_until(*first, target), seconds = *seconds_until(*first, target);
    sentences.push_back(
        {"target",
         fmt::format("{} of {} cells reached {}; the first was {}, after {} epochs and {} of training.",
                     there, cells, target_text(target), first->label, display_number(epochs.value),
                     with_unit(seconds.value, "s")),
         {evidence("epochs until " + target_text(target), *first, epochs),
          evidence("epochs[].seconds, summed", *first, seconds, "s")}});
  }
  return sentences;
}

}  // namespace lockstep::report
