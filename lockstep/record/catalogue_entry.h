// What the entries of all dimensions of the catalogue share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::record {

// What a network is trained to do; a data set must offer the same.
enum class Task {
  classification,  // an image has one label
  steering,        // a frame has an angle
  restoration,     // a noisy patch has its clean one
  any,             // a user's own module: its output decides
};
std::string_view name_of(Task task);

// [channels, height, width]
struct ImageShape {
  int channels = 0;
  int height = 0;
  int width = 0;
  std::size_t pixels() const { return static_cast<std::size_t>(height) * static_cast<std::size_t>(width); }
  std::size_t elements() const { return static_cast<std::size_t>(channels) * pixels(); }
  bool operator==(const ImageShape&) const = default;
};

// The names of a table's entries, in its order: for choices, suggestions and completion.
template <class Entry>
std::vector<std::string> names_of(std::span<const Entry> entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.emplace_back(entry.name);
  return names;
}

// The entry of that name, or null.
template <class Entry>
const Entry* find_entry(std::span<const Entry> entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace lockstep::record
