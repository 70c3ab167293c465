// What the models are made of, as far as specs are judged by it; a test compares it with what is built.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lockstep/record/spec.h"

namespace lockstep::record {

// What layers are grouped into: what --recompute can drop.
enum class Groups {
  none,
  chain,   // one chain, of as many layers as option depth says
  blocks,  // blocks, or chains that are long enough whatever the options
};

struct ModelParts {
  std::string_view name;
  int layers;            // with parameters, besides those that depth asks for
  int layers_per_depth;  // with parameters, for each of option depth
  Groups groups;
  bool has_head;  // that can be trained alone
  bool has_batch_norms;
};

// In the order of model_entries().
std::span<const ModelParts> model_parts();

// Of the spec's model; null for a user's file, whose inside is not known.
const ModelParts* parts_of(const RunSpec& spec);

// The model's layers with parameters; nothing for a user's file.
std::optional<std::int64_t> layers_of(const RunSpec& spec);

}  // namespace lockstep::record
