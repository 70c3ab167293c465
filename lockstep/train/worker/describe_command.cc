// `lockstep-worker describe`: what this worker has, for the catalogue to be compared with.
#include <ATen/ATen.h>
#include <torch/version.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/units.h"
#include "lockstep/models/describe.h"
#include "lockstep/models/registry.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/train/worker/arguments.h"
#include "lockstep/train/worker/commands.h"

namespace lockstep::train {

int describe_command(const Words& words) {
  const Arguments arguments(words, {"--classes"}, {"--json"});
  models::ModelOptions options;
  if (const auto classes = arguments.find("--classes")) options.classes = std::stoll(*classes);
  nlohmann::json models_json = nlohmann::json::array();
  for (const models::ModelEntry* entry : models::model_entries()) {
    models::ModelOptions asked = options;
    if (entry->limits.classes == 0) asked.classes = 0;
    models_json.push_back(models::to_json(models::describe_model(entry->name, asked)));
  }
  const nlohmann::json all = {
      {"models", models_json}, {"strategies", parallel::strategy_names()}, {"libtorch", TORCH_VERSION}};
  fmt::print("{}\n", base::json_text(all, 1));
  return 0;
}

}  // namespace lockstep::train
