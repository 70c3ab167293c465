#include "lockstep/record/event.h"

#include <fmt/core.h>

#include <algorithm>
#include <istream>

#include "lockstep/base/json.h"
#include "lockstep/record/json_archive.h"

namespace lockstep::record {
namespace {

using Json = nlohmann::json;

template <std::size_t Index = 0>
std::optional<EventBody> body_named(const std::string& name, const Json& json) {
  if constexpr (Index == std::variant_size_v<EventBody>) {
    return std::nullopt;
  } else {
    using Body = std::variant_alternative_t<Index, EventBody>;
    if (name != Body::kName) return body_named<Index + 1>(name, json);
    return EventBody(from_archive<Body>(json, ""));
  }
}

Json parse_line(const std::string& line) {
  try {
    return base::parse_json(line);
  } catch (const Json::exception&) {
    throw base::StoreError("this is not JSON: the line is damaged.");
  }
}

}  // namespace

std::string to_line(const Event& event) {
  Json json = std::visit([](const auto& body) { return to_archive(body); }, event.body);
  json["event"] = std::visit([](const auto& body) { return body.kName; }, event.body);
  json["rank"] = event.rank;
  json["time"] = event.time;
  return base::json_text(json);
}

std::optional<Event> event_from_line(const std::string& line) {
  const Json json = parse_line(line);
  if (!json.is_object()) throw base::StoreError("an event must be a JSON object.");
  Event event;
  std::string name;
  JsonReader reader(json, "");
  reader("event", name);
  reader("rank", event.rank);
  reader("time", event.time);
  auto body = body_named(name, json);
  if (!body) return std::nullopt;
  event.body = std::move(*body);
  return event;
}

// A quote inside a text is written with a backslash, so the name in quotes is the field. Engines differ in
// the spaces around it.
std::optional<std::string_view> kind_of_line(std::string_view line) {
  constexpr std::string_view kField = "\"event\"";
  const std::size_t field = line.find(kField);
  if (field == std::string_view::npos) return std::nullopt;
  line.remove_prefix(field + kField.size());
  const std::size_t begin = line.find_first_not_of(" :");
  if (begin == std::string_view::npos || line[begin] != '"') return std::nullopt;
  const std::size_t end = line.find('"', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(begin + 1, end - begin - 1);
}

std::vector<Event> read_events(std::istream& stream, const std::string& name) {
  std::vector<Event> events;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const bool cut_short = stream.eof();  // no line feed at its end
    if (line.empty() || cut_short) continue;
    try {
      if (auto event = event_from_line(line)) events.push_back(std::move(*event));
    } catch (const base::StoreError& error) {
      throw base::StoreError(fmt::format("{}:{}: {}", name, number, error.what()));
    }
  }
  return events;
}

std::vector<Event> merge_events(std::vector<std::vector<Event>> ranks) {
  std::vector<Event> merged;
  for (auto& events : ranks) std::move(events.begin(), events.end(), std::back_inserter(merged));
  std::stable_sort(merged.begin(), merged.end(), [](const Event& one, const Event& other) {
    return std::pair(one.time, one.rank) < std::pair(other.time, other.rank);
  });
  return merged;
}

}  // namespace lockstep::record
