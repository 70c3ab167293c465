// The catalogue: names and one-line descriptions of what a run can be made of, without any of the code behind
// them. So the command line can validate and list without loading a backend or torch; tests compare it with
// what really registers.
#pragma once

#include <span>
#include <string_view>

namespace lockstep::record {

struct BackendEntry {
  std::string_view name;
  std::string_view link;  // what carries its bytes: on one host, and between hosts where that differs
  std::string_view description;
};

// In the order in which tables show them.
std::span<const BackendEntry> backend_entries();

}  // namespace lockstep::record
