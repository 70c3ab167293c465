#include "lockstep/record/spec_validate_model.h"

#include <fmt/core.h>

#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_parts.h"

namespace lockstep::record {
namespace {

std::optional<Problem> inside_can_be_seen(const RunSpec& spec) {
  if (!is_model_file(spec.model)) return std::nullopt;
  const char* reason = "the inside of a TorchScript file cannot be seen, and it works on layers";
  if (spec.strategy == "zero3") return Problem{"strategy", spec.strategy, reason, "strategy zero1"};
  if (spec.recompute) return Problem{"recompute", "true", reason, "accumulate 2"};
  return std::nullopt;
}

// A shorter chain keeps what dropping it would keep (models/recompute.cc).
constexpr double kShortestChain = 3;

std::optional<Problem> recompute_has_something_to_drop(const RunSpec& spec) {
  const ModelParts* parts = parts_of(spec);
  if (!spec.recompute || parts == nullptr || parts->groups == Groups::blocks) return std::nullopt;
  const char* drops = "it drops the activations of blocks and chains of layers";
  if (parts->groups == Groups::none)
    return Problem{"recompute", "true", fmt::format("{}, and model {} has none", drops, spec.model),
                   "accumulate 2"};
  const double depth = model_options(spec).at("depth");
  if (depth >= kShortestChain) return std::nullopt;
  return Problem{"recompute", "true",
                 fmt::format("{}, and a chain of {:g} is too short to save anything (model {})", drops, depth,
                             spec.model),
                 fmt::format("model_options depth={:g}, or accumulate 2", kShortestChain)};
}

std::optional<Problem> head_is_there(const RunSpec& spec) {
  const ModelParts* parts = parts_of(spec);
  if (spec.trainable != "head" || parts == nullptr || parts->has_head) return std::nullopt;
  return Problem{"trainable", spec.trainable, fmt::format("model {} has no head to train alone", spec.model),
                 "trainable last:1"};
}

std::optional<Problem> enough_layers(const RunSpec& spec) {
  const std::optional<std::int64_t> layers = layers_of(spec);
  const std::string last = "last:";
  if (!layers || !spec.trainable.starts_with(last)) return std::nullopt;
  if (std::stod(spec.trainable.substr(last.size())) <= static_cast<double>(*layers)) return std::nullopt;
  return Problem{"trainable", spec.trainable,
                 fmt::format("model {} has {} layers with parameters", spec.model, *layers),
                 fmt::format("trainable last:{}", *layers)};
}

}  // namespace

std::vector<Problem> model_problems(const RunSpec& spec) {
  std::vector<Problem> problems;
  for (const auto rule :
       {inside_can_be_seen, recompute_has_something_to_drop, head_is_there, enough_layers}) {
    if (auto problem = rule(spec)) problems.push_back(std::move(*problem));
  }
  return problems;
}

}  // namespace lockstep::record
