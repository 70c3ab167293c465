// The strategies, devices and engines there are. (Backends: catalogue.h.)
#pragma once

#include <span>
#include <string_view>

#include "lockstep/record/catalogue_entry.h"

namespace lockstep::record {

struct StrategyEntry {
  std::string_view name;
  bool in_lockstep;  // whether our engine has it in this version; one that it has not is refused by name
  bool in_torch;     // whether the engine `torch` has it
  std::string_view description;
  // For `lockstep strategies`. P: bytes of the trained parameters, B: of buffers, N: workers, K: tensors of
  // optimiser state per parameter (sgd with momentum 1, adam 2), A: activations of a worker's share of the
  // batch.
  std::string_view explanation = {};  // two lines
  std::string_view sends = {};        // payload bytes, and when
  std::string_view keeps = {};        // bytes on each worker
};

struct DeviceEntry {
  std::string_view name;
  std::string_view description;
};

struct EngineEntry {
  std::string_view name;
  std::string_view description;
};

std::span<const StrategyEntry> strategy_entries();
std::span<const DeviceEntry> device_entries();
std::span<const EngineEntry> engine_entries();

}  // namespace lockstep::record
