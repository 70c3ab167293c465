#include "lockstep/cli/fit/answer.h"

#include <algorithm>

#include "lockstep/cli/setters.h"

namespace lockstep::cli {
namespace {

constexpr std::int64_t kParts = 4;

Answer answer(const std::string& name, int workers, const std::string& strategy) {
  return {name, workers, {"--strategy", strategy, "--workers", std::to_string(workers)}, 1};
}

Answer recomputed(Answer base) {
  base.name += "+recompute";
  base.flags.emplace_back("--recompute");
  return base;
}

Answer in_parts(Answer base) {
  base.name += "+accumulate";
  base.flags.insert(base.flags.end(), {"--accumulate", std::to_string(kParts)});
  base.parts = kParts;
  return base;
}

}  // namespace

std::vector<Answer> all_answers(int workers) {
  const Answer single = answer("single", 1, "single");
  const Answer ddp = answer("ddp", workers, "ddp");
  const Answer zero1 = answer("zero1", workers, "zero1");
  const Answer zero3 = answer("zero3", workers, "zero3");
  return {single, in_parts(single), recomputed(single), ddp, in_parts(ddp), recomputed(ddp), zero1,
          zero3,  recomputed(zero3)};
}

std::vector<std::string> answer_names() {
  std::vector<std::string> names;
  for (const Answer& one : all_answers(2)) names.push_back(one.name);
  return names;
}

std::vector<Answer> chosen_answers(const std::vector<std::string>& names, int workers) {
  for (const std::string& name : names) require_known("answer", name, answer_names());
  std::vector<Answer> chosen = all_answers(workers);
  if (names.empty()) return chosen;
  std::erase_if(chosen, [&](const Answer& one) {
    return std::find(names.begin(), names.end(), one.name) == names.end();
  });
  return chosen;
}

}  // namespace lockstep::cli
