// The whole job: whether it ends sooner with more workers, and which of its parts grew.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

// A part that changed by less, or is a smaller share of either job, is not worth a word of its own.
constexpr double kLeastChange = 0.1;
constexpr double kLeastShare = 0.02;

struct JobPart {
  std::string words;
  std::string field;
  double before = 0;
  double after = 0;
};

// The parts that both cells know; what they leave of the job is the last.
std::vector<JobPart> parts_of(const GridCell& one, const GridCell& many) {
  static constexpr std::array<std::array<const char*, 3>, 4> kParts = {
      {{"launch_seconds", "launch", "wall_seconds.launch"},
       {"load_seconds", "loading", "wall_seconds.load"},
       {"train_seconds", "training", "wall_seconds.train"},
       {"validate_seconds", "validation", "wall_seconds.validate"}}};
  std::vector<JobPart> parts;
  bool launch = false;
  for (const auto& [name, words, field] : kParts) {
    const auto before = figure(one, name), after = figure(many, name);
    if (!before || !after) continue;
    launch = launch || std::string_view(name) == "launch_seconds";
    parts.push_back({words, field, before->value, after->value});
  }
  parts.push_back({launch ? "the rest" : "launch and the rest", "wall_seconds.total less its known parts",
                   rest_seconds(one)->value, rest_seconds(many)->value});
  return parts;
}

std::string times_text(double ratio) {
  return ratio >= 1.95 ? fmt::format(" ({} times)", display_number(std::round(10 * ratio) / 10)) : "";
}

std::string change_text(const JobPart& part) {
  const double ratio = part.before > 0 ? part.after / part.before : 0;
  return fmt::format("{} from {} to {}{}", part.words, with_unit(part.before, "s"),
                     with_unit(part.after, "s"), times_text(ratio));
}

// "grew: loading from ... to ..., 8 times; shrank: ...; about the same: ...": the largest change first.
std::string parts_text(std::vector<JobPart> parts, double before, double after) {
  std::stable_sort(parts.begin(), parts.end(), [](const JobPart& one, const JobPart& other) {
    return std::abs(one.after - one.before) > std::abs(other.after - other.before);
  });
  std::vector<std::string> grew, shrank, kept, texts;
  for (const JobPart& part : parts) {
    if (part.before < kLeastShare * before && part.after < kLeastShare * after) continue;
    const double change = part.after - part.before;
    if (std::abs(change) < kLeastChange * part.before)
      kept.push_back(part.words);
    else
      (change > 0 ? grew : shrank).push_back(change_text(part));
  }
  if (!grew.empty()) texts.push_back("What grew: " + base::join(grew, ", "));
  if (!shrank.empty())
    texts.push_back((grew.empty() ? "What shrank: " : "what shrank: ") + base::join(shrank, ", "));
  if (!kept.empty())
    texts.push_back((texts.empty() ? "About the same: " : "about the same: ") + base::join(kept, ", "));
  return base::join(texts, "; ");
}

std::vector<Evidence> rests_of(const GridCell& one, const GridCell& many, const std::vector<JobPart>& parts) {
  std::vector<Evidence> rests = {evidence("wall_seconds.total", one, *figure(one, "total_seconds"), "s"),
                                 evidence("wall_seconds.total", many, *figure(many, "total_seconds"), "s")};
  for (const JobPart& part : parts) {
    rests.push_back(evidence(part.field, one, part.before, "s"));
    rests.push_back(evidence(part.field, many, part.after, "s"));
  }
  return rests;
}

struct JobChange {
  std::string finding;
  std::string outcome;
};

JobChange job_change(const Number& before, const Number& after) {
  const auto differ = clearly_differ(before, after);
  const std::string hedge(hedge_of(before, after));
  if (differ == false) return {"job-noise", "a difference smaller than the noise"};
  if (!differ && std::abs(after.value / before.value - 1) < kUsualNoise)
    return {"job-alike", "about as soon" + hedge};
  return after.value < before.value ? JobChange{"job-sooner", "sooner" + hedge}
                                    : JobChange{"job-not-sooner", "not sooner" + hedge};
}

bool has_job(const GridCell& cell) {
  const auto total = figure(cell, "total_seconds");
  return total && total->value > 0;
}

// The headline: one worker against the largest count with cores of its own.
void add_job(Sentences& sentences, const GridCell& one, const GridCell& many) {
  const Number before = *figure(one, "total_seconds"), after = *figure(many, "total_seconds");
  const JobChange change = job_change(before, after);
  const bool noise = change.finding == "job-noise";
  const std::vector<JobPart> parts = noise ? std::vector<JobPart>{} : parts_of(one, many);
  const std::string changed = noise ? "" : " " + parts_text(parts, before.value, after.value) + ".";
  sentences.push_back(
      {change.finding,
       fmt::format("The whole job takes {} with {} and {} with {}{}: {}.{}", with_unit(before.value, "s"),
                   one.label, with_unit(after.value, "s"), many.label,
                   many.oversubscribed ? ", which are more workers than cores" : "", change.outcome, changed),
       rests_of(one, many, parts)});
}

// What grew as far as anybody went, where that was beyond the cores.
void add_beyond(Sentences& sentences, const GridCell& one, const GridCell& most) {
  const Number before = *figure(one, "total_seconds"), after = *figure(most, "total_seconds");
  const std::vector<JobPart> parts = parts_of(one, most);
  sentences.push_back({"job-beyond-cores",
                       fmt::format("With {}, more workers than cores, it takes {}. {}.", most.label,
                                   with_unit(after.value, "s"), parts_text(parts, before.value, after.value)),
                       rests_of(one, most, parts)});
}

}  // namespace

Sentences job_words(const Subject& subject) {
  Sentences sentences;
  const std::vector<ScalingFamily> families = scaling_families(subject.grid);
  if (families.empty()) return sentences;
  const GridCell &one = *families.front().steps.front().cell, &most = *families.front().steps.back().cell;
  const GridCell& judged = *judged_step(families.front()).cell;
  if (!has_job(one) || !has_job(judged) || &one == &judged) return sentences;
  add_job(sentences, one, judged);
  if (&most != &judged && has_job(most)) add_beyond(sentences, one, most);
  return sentences;
}

}  // namespace lockstep::report
