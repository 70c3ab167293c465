#include "lockstep/base/json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace lockstep::base {

nlohmann::json parse_json(std::string_view text, const std::function<void(const std::string& key)>& refuse) {
  using Json = nlohmann::json;
  std::vector<std::set<std::string>> keys;  // of the objects that are open, the innermost last
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      refuse(value.get<std::string>());
    return true;
  };
  return Json::parse(text.begin(), text.end(), watch);
}

}  // namespace lockstep::base
