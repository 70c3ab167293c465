#include "lockstep/train/same_run.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::train {
namespace {

std::string value_text(const nlohmann::json& fields, const std::string& name) {
  if (fields.contains(name)) return base::json_text(fields.at(name));
  const nlohmann::json& standard = record::field_named(name, "spec").default_value;
  return standard.is_null() ? "unset" : base::json_text(standard);
}

}  // namespace

nlohmann::json lasting_fields(record::RunSpec spec) {
  const record::RunSpec standard;
  if (spec.schedule != "cosine") spec.epochs = standard.epochs, spec.steps = standard.steps;
  spec.max_time = standard.max_time;
  spec.target_loss = standard.target_loss;
  spec.target_val_loss = standard.target_val_loss;
  spec.target_accuracy = standard.target_accuracy;
  spec.target_psnr = standard.target_psnr;
  spec.validate_every = standard.validate_every;
  spec.check_every = standard.check_every;
  spec.measure = standard.measure;
  spec.skip_steps = standard.skip_steps;
  return base::parse_json(record::canonical_json(spec));
}

std::string differences(const nlohmann::json& here, const nlohmann::json& there, std::string_view where) {
  std::set<std::string> names;
  for (const auto& [name, value] : here.items()) names.insert(name);
  for (const auto& [name, value] : there.items()) names.insert(name);
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const std::string mine = value_text(here, name);
    const std::string theirs = value_text(there, name);
    if (mine != theirs) found.push_back(fmt::format("{} is {} here and {} {}", name, mine, theirs, where));
  }
  return base::join(found, "; ");
}

}  // namespace lockstep::train
