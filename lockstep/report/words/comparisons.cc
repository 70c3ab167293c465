// What every value of an axis changed against its first, with all else equal: samples per second, costs,
// bytes, quality.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/text.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/report/model/comparison.h"
#include "lockstep/report/model/last_epoch.h"
#include "lockstep/report/words/divergence.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostRests = 4;
constexpr double kAboutTheSame = 0.005;  // of a figure that is not a speed

struct Compared {
  const char* figure;
  const char* words;
  const char* field;  // of the record; empty: of the epoch that the figure is of
  double factor = 1;
  const char* unit = "";
  bool exact = false;  // counted, not measured: it has no noise
};

bool is_labelled(const GridAxis& axis) {
  return axis.values.size() > 1 && axis.name != "workers" && axis.name != "machine" && !is_batch(axis.name);
}

enum class Outcome { missing, equal, noise, alike, better, worse, unlearnt, not_finite };

Outcome outcome_of(const Number& base, const Number& other, std::string_view unit, double alike,
                   bool higher_is_better) {
  if (!is_finite(base) || !is_finite(other)) return Outcome::not_finite;
  if (with_unit(base.value, unit) == with_unit(other.value, unit)) return Outcome::equal;
  const auto differ = clearly_differ(base, other);
  const double change = std::abs(other.value - base.value) / std::abs(base.value);
  // Repeats from one seed have no noise, so that the least difference is clear, and still is none to speak
  // of.
  if (change < kAboutTheSame) return Outcome::alike;
  if (differ == false) return Outcome::noise;
  if (!differ && change < alike) return Outcome::alike;
  return (other.value > base.value) == higher_is_better ? Outcome::better : Outcome::worse;
}

// Of what is not finite no difference is told, and so none to hedge.
std::string_view hedge_of(const AxisComparison& comparison, std::string_view name) {
  Hedge hedge;
  for (const ComparedRest& rest : comparison.rests)
    for (std::size_t i = 1; i < rest.cells.size(); ++i) {
      if (rest.cells[i] == nullptr) continue;
      const Number base = *figure(*rest.cells[0], name), other = *figure(*rest.cells[i], name);
      if (is_finite(base) && is_finite(other)) hedge.add(base, other);
    }
  return hedge.text();
}

std::string axis_words(const AxisComparison& comparison) {
  if (comparison.axis->name == "workers") return "number of workers";
  return base::spaced(comparison.axis->name);
}

std::string value_words(const AxisComparison& comparison, std::size_t value) {
  return point_text(*comparison.axis, comparison.values[value]);
}

// " with 2 workers at global batch 32 / global batch 128": where the comparison was made.
std::string place_words(const AxisComparison& comparison) {
  std::string text;
  if (comparison.workers > 0)
    text += fmt::format(" with {}{}", point_text({"workers", std::to_string(comparison.workers)}),
                        comparison.oversubscribed ? " (more workers than cores)" : "");
  std::vector<std::string> labels;
  for (const ComparedRest& rest : comparison.rests)
    if (!rest.label.empty()) labels.push_back(rest.label);
  return labels.empty() ? text : text + (text.empty() ? " with " : ", ") + base::join(labels, " / ");
}

std::vector<Evidence> rests_of(const AxisComparison& comparison, const Compared& compared) {
  std::vector<Evidence> rests;
  for (const ComparedRest& rest : comparison.rests)
    for (const GridCell* cell : rest.cells) {
      if (cell == nullptr) continue;
      const std::string field =
          *compared.field == '\0' ? epoch_field(*cell, compared.figure) : std::string(compared.field);
      const Number number = scaled(*figure(*cell, compared.figure), compared.factor);
      rests.push_back(evidence(field, *cell, number, compared.unit));
    }
  return rests;
}

std::vector<const GridCell*> cells_of(const AxisComparison& comparison) {
  std::vector<const GridCell*> cells;
  for (const ComparedRest& rest : comparison.rests)
    cells.insert(cells.end(), rest.cells.begin(), rest.cells.end());
  return cells;
}

// At most kMostRests of the places; whether some were left out.
bool shorten(AxisComparison& comparison) {
  if (comparison.rests.size() <= kMostRests) return false;
  comparison.rests.resize(kMostRests);
  return true;
}

struct ValueOutcomes {
  std::vector<Outcome> at;  // in each place
  bool all(Outcome outcome) const {
    return std::all_of(at.begin(), at.end(),
                       [&](Outcome one) { return one == outcome || one == Outcome::missing; });
  }
  std::size_t count(Outcome outcome) const {
    return static_cast<std::size_t>(std::count(at.begin(), at.end(), outcome));
  }
};

ValueOutcomes outcomes_of(const AxisComparison& comparison, std::size_t value, std::string_view name,
                          double alike) {
  const lab::RunFigure* known = lab::find_run_figure(name);
  const bool higher = known != nullptr && known->better == lab::Better::higher;
  const std::string_view unit = known == nullptr ? "" : known->unit;
  ValueOutcomes outcomes;
  for (const ComparedRest& rest : comparison.rests)
    outcomes.at.push_back(rest.cells[value] == nullptr
                              ? Outcome::missing
                              : outcome_of(*figure(*rest.cells[0], name), *figure(*rest.cells[value], name),
                                           unit, alike, higher));
  return outcomes;
}

std::string ratio_text(const GridCell* base, const GridCell* cell, Outcome outcome) {
  switch (outcome) {
    case Outcome::missing:
      return "not run";
    case Outcome::equal:
      return "as fast";
    case Outcome::noise:
      return "within the noise";
    case Outcome::alike:
      return "about as fast";
    default:
      return fmt::format("{:.3g} times", figure(*cell, "samples_per_second")->value /
                                             figure(*base, "samples_per_second")->value);
  }
}

// "ddp 1.2 times / about as fast / 0.9 times".
std::string speed_text(const AxisComparison& comparison, std::size_t value) {
  const ValueOutcomes outcomes = outcomes_of(comparison, value, "samples_per_second", kUsualNoise);
  const std::string name = value_words(comparison, value);
  if (outcomes.all(Outcome::alike) || outcomes.all(Outcome::equal)) return name + " is about as fast";
  if (outcomes.all(Outcome::noise)) return name + ": no difference beyond the noise";
  std::vector<std::string> ratios;
  for (std::size_t i = 0; i < comparison.rests.size(); ++i)
    ratios.push_back(
        ratio_text(comparison.rests[i].cells[0], comparison.rests[i].cells[value], outcomes.at[i]));
  return fmt::format("{} {}", name, base::join(ratios, " / "));
}

bool was_measured(const AxisComparison& comparison, std::size_t value) {
  return std::any_of(comparison.rests.begin(), comparison.rests.end(),
                     [&](const ComparedRest& rest) { return rest.cells[value] != nullptr; });
}

void add_speeds(Sentences& sentences, const Grid& grid, const GridAxis& axis) {
  auto comparison = compare_along(grid, axis, "samples_per_second", ComparedAt::own_cores);
  if (!comparison) return;
  const bool more = shorten(*comparison);
  std::vector<std::string> texts;
  bool noise = true;
  for (std::size_t i = 1; i < comparison->values.size(); ++i) {
    if (!was_measured(*comparison, i)) continue;
    texts.push_back(speed_text(*comparison, i));
    noise = noise && outcomes_of(*comparison, i, "samples_per_second", kUsualNoise).all(Outcome::noise);
  }
  sentences.push_back(
      {noise ? "axis-" + axis.name + "-noise" : "axis-" + axis.name,
       fmt::format("Samples per second{}, against {}: {}{}.{}", place_words(*comparison),
                   value_words(*comparison, 0), base::join(texts, "; "),
                   hedge_of(*comparison, "samples_per_second"),
                   more ? " The tables show the other places." : ""),
       rests_of(*comparison, {"samples_per_second", "", "steps.samples_per_second", 1, "1/s"})});
}

std::string figure_text(const GridCell* cell, const Compared& compared) {
  if (cell == nullptr) return "not run";
  return with_unit(figure(*cell, compared.figure)->value * compared.factor, compared.unit);
}

// "fixed 1.861 / 2.24".
std::string values_text(const AxisComparison& comparison, std::size_t value, const Compared& compared) {
  std::vector<std::string> texts;
  for (const ComparedRest& rest : comparison.rests) texts.push_back(figure_text(rest.cells[value], compared));
  return texts.empty() ? "" : base::join(texts, " / ");
}

// Of two cells that learnt nothing neither is better, whatever their figures.
void forget_guesses(ValueOutcomes& outcomes, const Grid& grid, const AxisComparison& comparison,
                    std::size_t value) {
  for (std::size_t i = 0; i < outcomes.at.size(); ++i) {
    Outcome& outcome = outcomes.at[i];
    if (outcome != Outcome::better && outcome != Outcome::worse) continue;
    const ComparedRest& rest = comparison.rests[i];
    if (did_not_learn(grid, *rest.cells[outcome == Outcome::better ? value : 0])) outcome = Outcome::unlearnt;
  }
}

std::string verdict_text(const ValueOutcomes& outcomes) {
  if (outcomes.all(Outcome::equal)) return "the same";
  if (outcomes.all(Outcome::noise)) return "no difference beyond the noise";
  if (outcomes.all(Outcome::alike) || outcomes.all(Outcome::missing)) return "about the same";
  if (outcomes.all(Outcome::unlearnt)) return "no verdict (nothing learnt)";
  if (outcomes.all(Outcome::not_finite)) return "no verdict (not every run's figure is finite)";
  const std::size_t places = outcomes.at.size() - outcomes.count(Outcome::missing);
  const std::size_t better = outcomes.count(Outcome::better), worse = outcomes.count(Outcome::worse);
  if (better + worse == 0) return "about the same";
  if (places == 1) return better > 0 ? "better" : "worse";
  if (worse == 0) return fmt::format("better in {} of {}", better, places);
  if (better == 0) return fmt::format("worse in {} of {}", worse, places);
  return fmt::format("better in {} and worse in {} of {}", better, worse, places);
}

struct Verdict {
  std::string text;
  bool same = true;                      // every value, in every place
  bool ranked = false;                   // some value is called better or worse
  bool noise = true;                     // no value differs by more than the noise, and some by that
  std::vector<bool> equal = {true};      // by value: the same in every place
  std::vector<std::string> equal_names;  // of counted figures: who has the first value's

  std::string equal_text() const { return "the same with " + base::join(equal_names, ", "); }
};

// What each value did to the figure; those that did the same are named together.
Verdict verdict_of(const Grid& grid, const AxisComparison& comparison, const Compared& compared,
                   bool judged) {
  Verdict verdict;
  std::vector<std::pair<std::string, std::vector<std::string>>> by_text;
  for (std::size_t i = 1; i < comparison.values.size(); ++i) {
    ValueOutcomes outcomes = outcomes_of(comparison, i, compared.figure, kAboutTheSame);
    if (judged) forget_guesses(outcomes, grid, comparison, i);
    verdict.equal.push_back(was_measured(comparison, i) && outcomes.all(Outcome::equal));
    if (!was_measured(comparison, i)) continue;
    verdict.same = verdict.same && verdict.equal.back();
    if (compared.exact && verdict.equal.back()) verdict.equal_names.push_back(value_words(comparison, i));
    verdict.noise = verdict.noise && outcomes.all(Outcome::noise);
    verdict.ranked = verdict.ranked || outcomes.count(Outcome::better) + outcomes.count(Outcome::worse) > 0;
    const std::string text = verdict_text(outcomes);
    auto known =
        std::find_if(by_text.begin(), by_text.end(), [&](const auto& one) { return one.first == text; });
    if (known == by_text.end()) known = by_text.insert(by_text.end(), {text, {}});
    known->second.push_back(value_words(comparison, i));
  }
  std::vector<std::string> texts;
  for (const auto& [text, names] : by_text) texts.push_back(text + " with " + base::join(names, ", "));
  verdict.text = fmt::format("against {}: {}", value_words(comparison, 0), base::join(texts, "; "));
  return verdict;
}

std::string ending_of(const AxisComparison& comparison, const Compared& compared, const Verdict& verdict,
                      bool judged) {
  if (verdict.noise) return ": no difference beyond the noise.";
  const std::string hedge(compared.exact ? "" : hedge_of(comparison, compared.figure));
  if (!judged) return verdict.equal_names.empty() ? hedge + "." : "; " + verdict.equal_text() + ".";
  const char* apart = verdict.ranked && ended_apart(cells_of(comparison), compared.figure)
                          ? ", though not after equally many epochs"
                          : "";
  return fmt::format("; {}{}{}.", verdict.text, apart, hedge);
}

// All values of a figure along an axis; `judged`: with what was better.
void add_values(Sentences& sentences, const Grid& grid, const GridAxis& axis, const Compared& compared,
                bool judged) {
  auto comparison =
      compare_along(grid, axis, compared.figure, judged ? ComparedAt::most_workers : ComparedAt::own_cores);
  if (!comparison) return;
  if (judged) comparison->oversubscribed = false;  // changes no figure of quality
  shorten(*comparison);
  const Verdict verdict = verdict_of(grid, *comparison, compared, judged);
  const std::string finding = fmt::format("axis-{}-{}", axis.name, compared.figure);
  const std::string start =
      fmt::format("{}{}{}", compared.words, epochs_note(cells_of(*comparison), compared.figure),
                  place_words(*comparison));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < comparison->values.size(); ++i)
    if (was_measured(*comparison, i) && (i == 0 || !(judged || compared.exact) || !verdict.equal[i]))
      texts.push_back(value_words(*comparison, i) + " " + values_text(*comparison, i, compared));
  const std::string text =
      verdict.same ? fmt::format("{}: the same for every {}: {}.", start, axis_words(*comparison),
                                 values_text(*comparison, 0, compared))
                   : fmt::format("{}, by {}: {}{}", start, axis_words(*comparison), base::join(texts, "; "),
                                 ending_of(*comparison, compared, verdict, judged));
  sentences.push_back({finding, text, rests_of(*comparison, compared)});
}

// Accuracy or PSNR where there are any, else the validation loss.
std::vector<Compared> quality_figures(const Grid& grid) {
  const auto known = [&](const char* name) {
    return std::any_of(grid.cells.begin(), grid.cells.end(),
                       [&](const GridCell& cell) { return figure(cell, name).has_value(); });
  };
  std::vector<Compared> figures = {{"train_loss", "Final training loss", ""}};
  if (known("val_accuracy")) figures.push_back({"val_accuracy", "Validation accuracy", "", 100, "%"});
  if (known("val_psnr")) figures.push_back({"val_psnr", "Validation PSNR", "", 1, "dB"});
  if (figures.size() == 1) figures.push_back({"val_loss", "Validation loss", ""});
  return figures;
}

}  // namespace

Sentences way_words(const Subject& subject) {
  Sentences sentences;
  for (const GridAxis& axis : subject.grid.axes)
    if (is_labelled(axis)) add_speeds(sentences, subject.grid, axis);
  append(sentences, not_run_words(subject));
  return sentences;
}

Sentences not_run_words(const Subject& subject) {
  std::map<std::string, std::vector<const GridCell*>> cells;  // by reason
  for (const GridCell& cell : subject.grid.cells) {
    const std::string reason = first_sentence(cell.remark);
    // A rung that was not climbed is what the knee tells of.
    if (cell.any() == nullptr && !reason.empty() && !reason.starts_with("not climbed"))
      cells[reason].push_back(&cell);
  }
  Sentences sentences;
  for (const auto& [reason, there] : cells) {
    Sentence sentence{"not-run", "", {}};
    for (const GridCell* cell : there) sentence.rests_on.push_back({"status", cell->label, "not run"});
    const std::string others = there.size() == 1 ? "" : fmt::format(" and {} more like it", there.size() - 1);
    sentence.text = fmt::format("Not run: {}{}: {}.", there.front()->label, others, reason);
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

Sentences cost_words(const Subject& subject) {
  Sentences sentences;
  const auto add_axis = [&](const GridAxis& axis) {
    add_values(sentences, subject.grid, axis,
               {"compute_seconds", "Computation a step (mean)", "forward + backward + optimizer", 1, "s"},
               false);
    add_values(sentences, subject.grid, axis,
               {"exposed_seconds", "Exposed communication a step (mean)", "comm.exposed_seconds", 1, "s"},
               false);
  };
  for (const GridAxis& axis : subject.grid.axes)
    if (is_labelled(axis)) add_axis(axis);
  const GridAxis* workers = subject.grid.find_axis("workers");
  if (workers != nullptr && workers->values.size() > 1) add_axis(*workers);
  return sentences;
}

Sentences payload_words(const Subject& subject) {
  Sentences sentences;
  for (const GridAxis& axis : subject.grid.axes)
    if (is_labelled(axis))
      add_values(sentences, subject.grid, axis,
                 {"payload_bytes", "Payload of the run", "ledger[].payload_bytes", 1, "B", true}, false);
  return sentences;
}

Sentences comparison_words(const Subject& subject) {
  Sentences sentences;
  const std::vector<Compared> figures = quality_figures(subject.grid);
  const auto add_all = [&](const auto& wanted) {
    for (const GridAxis& axis : subject.grid.axes)
      if (axis.name != "model" && axis.name != "data" && axis.values.size() > 1 && wanted(axis))
        for (const Compared& compared : figures) add_values(sentences, subject.grid, axis, compared, true);
  };
  add_all(is_labelled);
  // The loss by workers has a sentence of its own; so accuracy or PSNR alone here.
  const GridAxis* workers = subject.grid.find_axis("workers");
  if (workers != nullptr && workers->values.size() > 1)
    for (std::size_t i = 1; i < figures.size(); ++i)
      add_values(sentences, subject.grid, *workers, figures[i], true);
  add_all([](const GridAxis& axis) { return is_batch(axis.name); });
  return sentences;
}

}  // namespace lockstep::report
