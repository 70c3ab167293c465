// JSON texts, written and read in this one place.
//
// In memory a text holds any bytes, as a path does; JSON is UTF-8. So a byte that belongs to no UTF-8
// character is written as one character of a private range, U+EF00 + byte (U+EF80 to U+EFFF), and read back
// as that byte. A character of that range itself is written as its three bytes. So every text comes back as
// it was, and writing never fails.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lockstep::base {

// The JSON text; in one line, or with members indented by so many spaces. Fit for a terminal: control
// characters are escaped.
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

// A string as it is; anything else as JSON.
std::string value_text(const nlohmann::json& value);

// Throws nlohmann::json::exception for what is no JSON, holds a number beyond the range of a double, or nests
// deeper than anything of ours.
nlohmann::json parse_json(std::string_view text);
// Of two values with one key in one object the library would keep the last, silently: `refuse` is called with
// the key, and may throw.
nlohmann::json parse_json(std::string_view text, const std::function<void(const std::string& key)>& refuse);
// Does not throw: what is no JSON is_discarded().
nlohmann::json try_parse_json(std::string_view text);

// The two directions for a single text: bytes written as characters, and characters read as bytes.
std::string bytes_to_text(std::string_view bytes);
std::string text_to_bytes(std::string_view text);

}  // namespace lockstep::base
