// The fingerprint of the machine a figure was measured on: an axis of every report, because records of
// several machines may meet in one. What is not known is left out, never written as zero.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace lockstep::record {

struct Machine {
  std::string host;
  std::string cpu;                    // the model's name
  int cores = 0;                      // that this process may use
  std::optional<double> cpu_quota;    // cores' worth of time a control group grants, where it limits
  std::uint64_t memory_bytes = 0;     // that this process may use
  std::optional<std::string> gpu;     // the model's name
  std::optional<double> slice_share;  // of the GPU, when a worker has a slice
  std::map<std::string, std::string> libraries;  // name to version

  bool operator==(const Machine&) const = default;
};

void to_json(nlohmann::json& json, const Machine& machine);
// Throws DataError that names a missing or mistyped field.
void from_json(const nlohmann::json& json, Machine& machine);

}  // namespace lockstep::record
