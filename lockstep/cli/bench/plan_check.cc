#include "lockstep/cli/bench/plan_check.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::cli {
namespace {

template <typename Value>
std::string names_in(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(name_of(value));
  return base::join(names, ",");
}

std::string algorithms_in(const BenchOptions& options) {
  std::vector<std::string> words;
  for (const auto& [backend, names] : options.algorithms)
    for (const std::string& name : names) words.push_back(backend + ":" + name);
  return words.empty() ? "auto" : base::join(words, ",");
}

std::string buffer_word(BufferChoice buffer) {
  switch (buffer) {
    case BufferChoice::automatic:
      return "the default";
    case BufferChoice::owned:
      return "owned";
    case BufferChoice::private_:
      return "private";
    case BufferChoice::both:
      return "both";
  }
  return "";
}

std::string automatic_or(int number) {
  return number == 0 ? "automatic" : std::to_string(number);
}

// Goes on only when every rank has agreed: what one says about its flags must come before what goes wrong
// because of them.
void lead(const BenchOptions& options, int world, comm::Store& store, base::Deadline deadline) {
  store.set("words", plan_text(plan_words(options)));
  for (int rank = 1; rank < world; ++rank) store.get(fmt::format("agreed/{}", rank), deadline);
}

void follow(const BenchOptions& options, int rank, comm::Store& store, base::Deadline deadline) {
  const std::string difference = plan_difference(plan_words(options), rank, store.get("words", deadline), 0);
  if (difference.empty()) return store.set(fmt::format("agreed/{}", rank), "");
  throw base::CommError(
      base::CommError::Kind::disagreement,
      fmt::format("rank {} disagrees with rank 0 about the bench of {}: {}. Start every rank with the same "
                  "flags",
                  rank, names_in(options.collectives), difference));
}

}  // namespace

PlanWords plan_words(const BenchOptions& options) {
  return {{"--collective", names_in(options.collectives)},
          {"--backend", base::join(options.backends, ",")},
          {"--dtype", names_in(options.types)},
          {"--op", names_in(options.ops)},
          {"--root", std::to_string(options.root.value_or(0))},
          {"--buffer", buffer_word(options.buffer)},
          {"--min-bytes", std::to_string(options.min_bytes)},
          {"--max-bytes", std::to_string(options.max_bytes)},
          {"--factor", options.step_bytes > 0 ? "unused" : fmt::format("{}", options.factor)},
          {"--step", options.step_bytes > 0 ? std::to_string(options.step_bytes) : "unused"},
          {"--iterations", automatic_or(options.iterations)},
          {"--warmup", options.warmup ? std::to_string(*options.warmup) : "automatic"},
          {"--check", options.check ? "1" : "0"},
          {"--algorithm", algorithms_in(options)}};
}

std::string plan_text(const PlanWords& words) {
  std::string text;
  for (const auto& [flag, value] : words) text += flag + " " + value + "\n";
  return text;
}

std::string plan_difference(const PlanWords& mine, int my_rank, const std::string& theirs, int their_rank) {
  std::vector<std::string> differences;
  const std::vector<std::string> lines = base::split(theirs, '\n');
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto& [flag, value] = mine[i];
    const std::string line = i < lines.size() ? lines[i] : "";
    if (line == flag + " " + value) continue;
    if (!line.starts_with(flag + " "))
      return fmt::format("rank {} and rank {} are of different versions", my_rank, their_rank);
    differences.push_back(fmt::format("{} is {} on rank {} and {} on rank {}", flag, value, my_rank,
                                      line.substr(flag.size() + 1), their_rank));
  }
  return base::join(differences, "; ");
}

void require_same_plan(const BenchOptions& options, comm::Session& session) {
  comm::PrefixStore store(session.store(), "bench/plan");
  const base::Deadline deadline(options.join_timeout);
  if (session.group().rank == 0)
    lead(options, session.group().world, store, deadline);
  else
    follow(options, session.group().rank, store, deadline);
}

}  // namespace lockstep::cli
