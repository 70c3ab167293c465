// JSON texts as people write them.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lockstep::base {

// Parses a text. Of two values with one key in one object the library would keep the last, silently: `refuse`
// is called with the key, and may throw. Throws nlohmann::json::parse_error for what is no JSON.
nlohmann::json parse_json(std::string_view text, const std::function<void(const std::string& key)>& refuse);

}  // namespace lockstep::base
