// The models there are: one entry each, defined in the model's own file and listed in registry.cc.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "lockstep/models/layer_factory.h"
#include "lockstep/models/loss_kind.h"
#include "lockstep/models/options.h"
#include "lockstep/models/unit.h"

namespace lockstep::models {

struct ModelEntry {
  std::string_view name;
  std::string_view description;
  LossKind loss = LossKind::cross_entropy;
  ModelLimits limits;
  // The path of the unit that makes the output ("fc"): what `--trainable head` leaves trainable, and what
  // weights for another number of classes leave alone. Empty: the model has none.
  std::string_view head;
  std::unique_ptr<Unit> (*build)(LayerFactory& layers, const ModelOptions& resolved) = nullptr;
  // Whether LayerOptions::channels_last makes it faster on the CPU (measured: see models/README.md).
  bool prefers_channels_last = false;
};

std::span<const ModelEntry* const> model_entries();

// Throws UsageError with a suggestion when there is no such model.
const ModelEntry& model_entry(std::string_view name);

}  // namespace lockstep::models
