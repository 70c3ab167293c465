#include "lockstep/report/words/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "lockstep/base/counted.h"
#include "lockstep/base/text.h"
#include "lockstep/report/model/grid_axes.h"

namespace lockstep::report {
namespace {

using record::EpochFigures;
using Loss = std::optional<double> EpochFigures::*;

constexpr std::size_t kMostCells = 3;

struct LossKind {
  Loss member;
  const char* words;
  const char* field;
};
constexpr LossKind kLosses[] = {{&EpochFigures::train_loss, "loss", "train_loss"},
                                {&EpochFigures::val_loss, "validation loss", "val_loss"}};

// The lowest final training loss of any cell of the same model and data.
std::optional<double> best_loss(const Grid& grid, const GridCell& cell) {
  std::optional<double> best;
  for (const GridCell& other : grid.cells) {
    if (other.at("model") != cell.at("model") || other.at("data") != cell.at("data")) continue;
    const auto loss = figure(other, "train_loss");
    if (loss && std::isfinite(loss->value)) best = std::min(best.value_or(loss->value), loss->value);
  }
  return best;
}

// The epoch with the highest loss; the first that is not finite before any other.
const EpochFigures* worst_epoch(const record::RunRecord& run, Loss loss) {
  const EpochFigures* worst = nullptr;
  for (const EpochFigures& epoch : run.epochs) {
    if (!(epoch.*loss)) continue;
    if (!std::isfinite(*(epoch.*loss))) return &epoch;
    if (worst == nullptr || *(epoch.*loss) > *(worst->*loss)) worst = &epoch;
  }
  return worst;
}

// The last epoch that has the loss, finished or not: not every epoch is validated.
const EpochFigures* last_epoch(const record::RunRecord& run, Loss loss) {
  const auto last = std::find_if(run.epochs.rbegin(), run.epochs.rend(),
                                 [&](const EpochFigures& epoch) { return (epoch.*loss).has_value(); });
  return last == run.epochs.rend() ? nullptr : &*last;
}

const EpochFigures* first_epoch(const record::RunRecord& run, Loss loss) {
  const auto first = std::find_if(run.epochs.begin(), run.epochs.end(),
                                  [&](const EpochFigures& epoch) { return (epoch.*loss).has_value(); });
  return first == run.epochs.end() ? nullptr : &*first;
}

// By its place in the record: a resumed run's epochs do not begin with the first.
Evidence loss_evidence(const GridCell& cell, const record::RunRecord& run, const LossKind& kind,
                       const EpochFigures& epoch) {
  return evidence(fmt::format("epochs[{}].{}", &epoch - run.epochs.data(), kind.field), cell,
                  *(epoch.*kind.member));
}

// The epoch that the others are held against: of a resumed run the first that its record has.
std::string first_name(const record::RunRecord& run) {
  const std::int64_t epoch = run.epochs.front().epoch;
  return epoch > 1 ? fmt::format("epoch {}", epoch) : "the first epoch";
}

std::string beginning_text(const record::RunRecord& run, double first) {
  const std::string loss = display_number(first);
  return run.epochs.front().epoch > 1 ? fmt::format("where {} had {}", first_name(run), loss)
                                      : "where training began at " + loss;
}

// Not finite, or far above where training began, in any epoch.
std::optional<Divergence> burst_of(const GridCell& cell, const record::RunRecord& run, const LossKind& kind,
                                   double first) {
  const EpochFigures* worst = worst_epoch(run, kind.member);
  if (worst == nullptr) return std::nullopt;
  const double most = *(worst->*kind.member);
  std::vector<Evidence> rests = {evidence("epochs[0].train_loss", cell, first),
                                 loss_evidence(cell, run, kind, *worst)};
  if (!std::isfinite(most))
    return Divergence{
        Instability::diverged,
        fmt::format("its {} is no longer a finite number from epoch {} on", kind.words, worst->epoch), rests};
  if (first <= 0 || most <= kBurst * first) return std::nullopt;
  std::string why = fmt::format("its {} reached {} in epoch {}, {}", kind.words, display_number(most),
                                worst->epoch, beginning_text(run, first));
  const EpochFigures* end = last_epoch(run, kind.member);
  if (worst == end) return Divergence{Instability::diverged, why, rests};
  rests.push_back(loss_evidence(cell, run, kind, *end));
  const double last = *(end->*kind.member);
  const bool back = last <= kCameBack * first;
  why += (back ? ", and came back to " : ", and ended at ") + display_number(last);
  return Divergence{back ? Instability::unstable : Instability::diverged, why, rests};
}

// A training loss that ended above where it began. A validation loss that fell meanwhile says that the model
// still learnt.
Divergence risen(const GridCell& cell, const record::RunRecord& run, double first, double last,
                 std::vector<Evidence> rests) {
  std::string why = fmt::format("its loss rose from {} after {} to {}", display_number(first),
                                first_name(run), display_number(last));
  const LossKind& validation = kLosses[1];
  const EpochFigures *begin = first_epoch(run, validation.member), *end = last_epoch(run, validation.member);
  if (begin == end) return {Instability::diverged, why, rests};
  const double before = *(begin->*validation.member), after = *(end->*validation.member);
  if (!(after < before && after <= kCameBack * first)) return {Instability::diverged, why, rests};
  rests.push_back(loss_evidence(cell, run, validation, *begin));
  rests.push_back(loss_evidence(cell, run, validation, *end));
  why += fmt::format(", while its validation loss fell from {} to {}", display_number(before),
                     display_number(after));
  return {Instability::unstable, why, rests};
}

// The training loss ends above where it began, or did not fall while another cell's did.
std::optional<Divergence> rise_of(const Grid& grid, const GridCell& cell, const record::RunRecord& run,
                                  double first, double last) {
  std::vector<Evidence> rests = {evidence("epochs[0].train_loss", cell, first),
                                 evidence("epochs[last].train_loss, finished or not", cell, last)};
  if (run.epochs.size() < 2) return std::nullopt;
  if (last > kRisen * first) return risen(cell, run, first, last, rests);
  const auto best = best_loss(grid, cell);
  if (best && last > kFarFromBest * *best && last > kNoFall * first)
    return Divergence{Instability::diverged,
                      fmt::format("its loss stayed at {}, where {} was reached elsewhere",
                                  display_number(last), display_number(*best)),
                      rests};
  return std::nullopt;
}

std::optional<Divergence> run_divergence(const Grid& grid, const GridCell& cell,
                                         const record::RunRecord& run) {
  if (run.epochs.empty() || !run.epochs.front().train_loss) return std::nullopt;
  const double first = *run.epochs.front().train_loss;
  std::optional<Divergence> mild;
  for (const LossKind& kind : kLosses)
    if (auto found = burst_of(cell, run, kind, first)) {
      if (found->kind == Instability::diverged) return found;
      mild = std::move(found);
    }
  if (const EpochFigures* last = last_epoch(run, &EpochFigures::train_loss))
    if (auto found = rise_of(grid, cell, run, first, *last->train_loss)) return found;
  return mild;
}

std::string spec_word(const GridCell& cell, const char* field) {
  return field_text(cell.runs.front(), field);
}

double warmup_epochs(const GridCell& cell) {
  const auto& spec = cell.runs.front().spec;
  return spec.is_object() ? spec.value("warmup_epochs", 0.0) : 0;
}

// Nothing longer could be tried.
bool warms_up_throughout(const GridCell& cell) {
  const std::vector<EpochFigures>& epochs = cell.runs.front().epochs;
  return epochs.empty() || warmup_epochs(cell) >= static_cast<double>(epochs.back().epoch);
}

// What to try, for all cells that the same may help.
struct Advice {
  std::string finding;
  std::string start;   // before the names of the cells
  std::string ending;  // after them
  std::vector<std::string> cells = {};
  std::vector<Evidence> rests = {};

  void add(const GridCell& cell, const Divergence& found) {
    cells.push_back(cell.label);
    rests.insert(rests.end(), found.rests.begin(), found.rests.end());
  }
  void tell(Sentences& sentences) const {
    if (cells.empty()) return;
    const std::size_t shown = std::min(kMostCells, cells.size());
    const std::string more =
        cells.size() > shown ? fmt::format(" and {}", base::counted(cells.size() - shown, "more cell")) : "";
    sentences.push_back(
        {finding,
         fmt::format("{}{}{}{}", start, base::join(std::span(cells).first(shown), "; "), more, ending),
         rests});
  }
};

bool has_scaled_rate(const GridCell& cell) {
  return spec_word(cell, "learning_rate_scaling") == "linear" && cell.workers > 1;
}

Sentences advice_for(const std::vector<std::pair<const GridCell*, Divergence>>& found) {
  Advice warm_up{"try-warmup", "The learning rate was multiplied by the linear rule and not warmed up with ",
                 ": try warmup_epochs, or no scaling."};
  Advice longer{"try-learning-rate", "With ",
                ", which warmed up, try a smaller learning rate, a longer warm-up, or clip_norm."};
  Advice throughout{"try-learning-rate", "With ",
                    ", which warmed up all the time, try a smaller learning rate, or clip_norm."};
  Advice smaller{"try-learning-rate", "With ", ", try a smaller learning rate, warm-up, or clip_norm."};
  const auto advice_of = [&](const GridCell& cell) -> Advice& {
    if (warmup_epochs(cell) > 0) return warms_up_throughout(cell) ? throughout : longer;
    return has_scaled_rate(cell) ? warm_up : smaller;
  };
  for (const auto& [cell, divergence] : found) advice_of(*cell).add(*cell, divergence);
  Sentences sentences;
  for (const Advice& advice : {warm_up, longer, throughout, smaller}) advice.tell(sentences);
  return sentences;
}

// All cells of a kind in one sentence: the first few with why.
struct Told {
  std::string finding;
  std::string verb;
  std::vector<std::string> cells = {};
  std::vector<Evidence> rests = {};

  void add(const GridCell& cell, const Divergence& found) {
    cells.push_back(fmt::format("with {} ({})", cell.label, found.why));
    rests.insert(rests.end(), found.rests.begin(), found.rests.end());
  }
  void tell(Sentences& sentences) const {
    if (cells.empty()) return;
    const std::size_t shown = std::min(kMostCells, cells.size());
    const std::string more =
        cells.size() > shown ? fmt::format("; and in {}", base::counted(cells.size() - shown, "more cell"))
                             : "";
    sentences.push_back(
        {finding,
         fmt::format("Training {} {}{}.", verb, base::join(std::span(cells).first(shown), "; "), more),
         rests});
  }
};

}  // namespace

std::optional<Divergence> divergence_of(const Grid& grid, const GridCell& cell) {
  std::optional<Divergence> mild;
  for (const record::RunRecord& run : cell.runs)
    if (auto found = run_divergence(grid, cell, run)) {
      if (found->kind == Instability::diverged) return found;
      mild = std::move(found);
    }
  return mild;
}

Sentences divergence_words(const Subject& subject) {
  Told diverged{"divergence", "diverged"}, unstable{"unstable", "was unstable"};
  std::vector<std::pair<const GridCell*, Divergence>> found;
  for (const GridCell& cell : subject.grid.cells)
    if (auto one = divergence_of(subject.grid, cell)) {
      (one->kind == Instability::diverged ? diverged : unstable).add(cell, *one);
      found.emplace_back(&cell, std::move(*one));
    }
  Sentences sentences;
  diverged.tell(sentences);
  unstable.tell(sentences);
  append(sentences, advice_for(found));
  append(sentences, guessing_words(subject));
  return sentences;
}

}  // namespace lockstep::report
