#include "lockstep/cli/fit/fit_options.h"

#include <array>

#include "lockstep/base/error.h"
#include "lockstep/cli/fit/answer.h"
#include "lockstep/cli/setters.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::cli {
namespace {

// Fields of a spec that say what is trained, and by what. The rest is the search's business.
constexpr std::array kPassedOn = {"model",     "model_options", "data",    "image_size", "optimizer",
                                  "precision", "trainable",     "backend", "threads",    "data_dir"};

Flag passed_on(const char* name, FitOptions& options) {
  const std::string nowhere;
  const record::Field& field = record::field_named(name, nowhere);
  return {.names = field.flag(),
          .value = std::string(field.placeholder()),
          .help = record::help_text(field),
          .known_values = field.rule.choices(),
          .group = "What is trained",
          .set = [flag = field.flag(), &options](const std::string& text) {
            options.passed_on.insert(options.passed_on.end(), {flag, text});
          }};
}

}  // namespace

void FitOptions::validate() const {
  if (device_memory == 0)
    throw base::UsageError("--device-memory is needed: what a worker may use, as in 64MiB.");
  if (workers < 2) throw base::UsageError("--workers must be at least 2: one worker is tried anyway.");
}

std::vector<Flag> fit_flags(FitOptions& options) {
  std::vector<Flag> flags = {
      {.names = "--device-memory",
       .value = "BYTES",
       .help = "memory that each worker may use, as in 64MiB",
       .set = bytes(options.device_memory)},
      {.names = "--workers",
       .value = "N",
       .help = "workers of the answers that need several (default 2)",
       .set = whole_number(options.workers, 1)},
      {.names = "--answers",
       .value = "LIST",
       .help = "try only these (default: all)",
       .known_values = answer_names(),
       .list = true,
       .set = words(options.answers)},
      {.names = "--steps",
       .value = "N",
       .help = "steps of each trial (default 3); the first is left out of the times",
       .set = whole_number(options.steps, 2)},
      {.names = "--largest-batch",
       .value = "N",
       .help = "try no larger batch per worker (default 4096)",
       .set = whole_number(options.largest_batch, 1)},
      {.names = "--trial-timeout",
       .value = "TIME",
       .help = "limit for one trial (default 2m)",
       .set = duration(options.trial_timeout)},
      {.names = "--json", .help = "print one JSON document", .set = turn_on(options.json)}};
  for (const char* name : kPassedOn) flags.push_back(passed_on(name, options));
  return flags;
}

}  // namespace lockstep::cli
