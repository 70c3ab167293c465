// Structs to JSON and back, with every field named once. A struct lists its fields in a static member
//
//   template <class Archive, class Self>
//   static void describe(Archive& archive, Self& self) { archive("epoch", self.epoch); ... }
//
// which JsonWriter and JsonReader both run. An unset std::optional is not written: unknown is absent, never
// zero. Empty lists and maps are written. Keys that a reader does not know are skipped, so that fields can be
// added.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::record {

template <class T>
nlohmann::json to_archive(const T& value);
template <class T>
T from_archive(const nlohmann::json& json, const std::string& where);

namespace archive_detail {

using Json = nlohmann::json;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;

// JSON has no numbers for these three, and a loss can be any of them.
inline Json encode_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  return value;
}
inline std::optional<double> decode_number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::nan("");
  if (json == "infinity") return HUGE_VAL;
  if (json == "-infinity") return -HUGE_VAL;
  return std::nullopt;
}

[[noreturn]] inline void refuse(const std::string& where, const char* expected, const Json& json) {
  throw base::StoreError(fmt::format("{} should be {} and is {}: the file is damaged, or not one of ours.",
                                     where, expected, base::json_text(json).substr(0, 60)));
}

}  // namespace archive_detail

class JsonWriter {
 public:
  explicit JsonWriter(nlohmann::json& out) : out_(out) {}
  template <class T>
  void operator()(const char* name, const T& value) {
    if constexpr (archive_detail::is_optional<T>) {
      if (value) (*this)(name, *value);
    } else {
      out_[name] = to_archive(value);
    }
  }

 private:
  nlohmann::json& out_;
};

class JsonReader {
 public:
  JsonReader(const nlohmann::json& in, std::string where) : in_(in), where_(std::move(where)) {}
  template <class T>
  void operator()(const char* name, T& value) {
    const auto found = in_.find(name);
    const std::string where = where_.empty() ? name : where_ + "." + name;
    if constexpr (archive_detail::is_optional<T>) {
      if (found != in_.end()) value = from_archive<typename T::value_type>(*found, where);
    } else {
      if (found == in_.end()) {
        throw base::StoreError(fmt::format("{} is missing: the file is damaged, or not one of ours.", where));
      }
      value = from_archive<T>(*found, where);
    }
  }

 private:
  const nlohmann::json& in_;
  std::string where_;
};

template <class T>
nlohmann::json to_archive(const T& value) {
  using namespace archive_detail;
  if constexpr (std::is_same_v<T, Json> || std::is_same_v<T, std::string> || std::is_integral_v<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, double>) {
    return encode_number(value);
  } else if constexpr (is_vector<T>) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(to_archive(element));
    return array;
  } else if constexpr (is_map<T>) {
    Json object = Json::object();
    for (const auto& [key, member] : value) object[key] = to_archive(member);
    return object;
  } else {
    Json object = Json::object();
    JsonWriter writer(object);
    T::describe(writer, value);
    return object;
  }
}

namespace archive_detail {

template <class T>
T read_vector(const Json& json, const std::string& where) {
  if (!json.is_array()) refuse(where, "a list", json);
  T values;
  for (std::size_t i = 0; i < json.size(); ++i) {
    values.push_back(from_archive<typename T::value_type>(json[i], fmt::format("{}[{}]", where, i)));
  }
  return values;
}

template <class T>
T read_map(const Json& json, const std::string& where) {
  if (!json.is_object()) refuse(where, "an object", json);
  T values;
  for (const auto& [key, member] : json.items()) {
    values[key] = from_archive<typename T::mapped_type>(member, where + "." + key);
  }
  return values;
}

template <class T>
T read_integer(const Json& json, const std::string& where) {
  if (!json.is_number_integer()) refuse(where, "a whole number", json);
  if (std::is_unsigned_v<T> && !json.is_number_unsigned()) refuse(where, "a whole number from 0 on", json);
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : std::in_range<T>(json.get<std::int64_t>());
  if (!fits) refuse(where, "a smaller whole number", json);
  return json.get<T>();
}

}  // namespace archive_detail

template <class T>
T from_archive(const nlohmann::json& json, const std::string& where) {
  using namespace archive_detail;
  if constexpr (std::is_same_v<T, Json>) {
    return json;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) refuse(where, "a text", json);
    return json.get<T>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) refuse(where, "true or false", json);
    return json.get<T>();
  } else if constexpr (std::is_integral_v<T>) {
    return read_integer<T>(json, where);
  } else if constexpr (std::is_same_v<T, double>) {
    const auto number = decode_number(json);
    if (!number) refuse(where, "a number", json);
    return *number;
  } else if constexpr (is_vector<T>) {
    return read_vector<T>(json, where);
  } else if constexpr (is_map<T>) {
    return read_map<T>(json, where);
  } else {
    if (!json.is_object()) refuse(where, "an object", json);
    T value;
    JsonReader reader(json, where);
    T::describe(reader, value);
    return value;
  }
}

}  // namespace lockstep::record
