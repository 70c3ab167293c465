#include "lockstep/base/json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "lockstep/base/printable.h"

namespace lockstep::base {
namespace {

using Json = nlohmann::json;

// Records nest eight deep; reading, comparing and writing follow the nesting on the stack.
constexpr int kDeepest = 200;

// The two leading bytes of U+EF80 to U+EFBF, and of U+EFC0 to U+EFFF.
constexpr std::string_view kLower = "\xEE\xBE";
constexpr std::string_view kUpper = "\xEE\xBF";

bool holds_stand_in(std::string_view text) {
  return text.find(kLower) != text.npos || text.find(kUpper) != text.npos;
}

bool is_stand_in(std::string_view rest) {
  return rest.size() >= 3 && (rest.starts_with(kLower) || rest.starts_with(kUpper));
}

void append_stand_in(std::string& text, unsigned char byte) {
  text += byte < 0xC0 ? kLower : kUpper;
  text += static_cast<char>(0x80 | (byte & 0x3F));
}

// The same value with every text of it, keys too, in its other form.
template <class AnyJson, class Convert>
AnyJson with_texts(const AnyJson& value, const Convert& convert) {
  if (value.is_string()) return convert(value.template get_ref<const std::string&>());
  if (!value.is_structured()) return value;
  AnyJson all = value.is_array() ? AnyJson::array() : AnyJson::object();
  for (const auto& [key, member] : value.items()) {
    if (value.is_array())
      all.push_back(with_texts(member, convert));
    else
      all[convert(key)] = with_texts(member, convert);
  }
  return all;
}

// DEL and the control characters U+0080 to U+009F, which the library leaves as they are: some terminals obey
// them. In JSON they stand in strings alone.
std::string with_controls_escaped(std::string text) {
  if (text.find('\x7F') == text.npos && text.find('\xC2') == text.npos) return text;
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool leads = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte == 0x7F || leads) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto code = static_cast<unsigned char>(leads ? text[++i] : text[i]);
      escaped.append("\\u00").append(1, kDigits[code >> 4]).append(1, kDigits[code & 15]);
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

template <class AnyJson>
std::string text_of(const AnyJson& json, int indent) {
  try {
    std::string text = json.dump(indent);
    if (!holds_stand_in(text)) return with_controls_escaped(std::move(text));
  } catch (const typename AnyJson::type_error&) {  // a byte that is no UTF-8
  }
  return with_controls_escaped(
      with_texts(json, bytes_to_text).dump(indent, ' ', false, AnyJson::error_handler_t::replace));
}

// Up to where it nests too deeply: a text that is cut there is no JSON, and is refused as such.
std::string_view within_depth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (in_string && letter == '\\') ++i;
    if (letter == '"') in_string = !in_string;
    if (in_string) continue;
    if (letter == '[' || letter == '{') ++depth;
    if (letter == ']' || letter == '}') --depth;
    if (depth > kDeepest) return text.substr(0, i);
  }
  return text;
}

bool may_hold_stand_in(std::string_view text) {
  return holds_stand_in(text) || text.find("\\uef") != text.npos || text.find("\\uEF") != text.npos ||
         text.find("\\ueF") != text.npos || text.find("\\uEf") != text.npos;
}

Json with_bytes(Json json, std::string_view text) {
  return may_hold_stand_in(text) ? with_texts(json, text_to_bytes) : std::move(json);
}

}  // namespace

std::string bytes_to_text(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = is_stand_in(bytes) ? 0 : character_length(bytes);
    if (length == 0)
      append_stand_in(text, static_cast<unsigned char>(bytes.front()));
    else
      text += bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

std::string text_to_bytes(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const bool stands_in = is_stand_in(text);
    const int upper = stands_in && text.starts_with(kUpper) ? 0x40 : 0;
    bytes += stands_in ? static_cast<char>(text[2] | upper) : text.front();
    text.remove_prefix(stands_in ? 3 : 1);
  }
  return bytes;
}

std::string json_text(const Json& json, int indent) {
  return text_of(json, indent);
}
std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return text_of(json, indent);
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

Json parse_json(std::string_view text) {
  return with_bytes(Json::parse(within_depth(text)), text);
}

Json parse_json(std::string_view text, const std::function<void(const std::string& key)>& refuse) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open, the innermost last
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      refuse(value.get<std::string>());
    return true;
  };
  return with_bytes(Json::parse(within_depth(text), watch), text);
}

Json try_parse_json(std::string_view text) {
  Json json = Json::parse(within_depth(text), nullptr, false);
  return json.is_discarded() ? json : with_bytes(std::move(json), text);
}

}  // namespace lockstep::base
