// The answers to "it does not fit" that `lockstep fit` tries: each is a way to train the same model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cli {

struct Answer {
  std::string name;  // "zero3+recompute"
  int workers = 1;
  std::vector<std::string> flags;  // of `lockstep train`, besides the batch
  std::int64_t parts = 1;          // into which a worker cuts its batch
};

// In the order of the table: one worker first, then several.
std::vector<Answer> all_answers(int workers);
std::vector<std::string> answer_names();
// Those of these names, in the table's order; all where none is named. Throws UsageError for a name that is
// none, with a suggestion.
std::vector<Answer> chosen_answers(const std::vector<std::string>& names, int workers);

}  // namespace lockstep::cli
