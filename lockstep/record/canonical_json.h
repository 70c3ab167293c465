// One text for one JSON value: no spaces, keys in byte order, numbers in their shortest form that reads back
// equal, whole numbers without a point or an exponent, never "-0".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::record {

// Throws ConfigError for a number that is not finite: JSON has no form for it.
std::string canonical_text(const nlohmann::json& value);

}  // namespace lockstep::record
