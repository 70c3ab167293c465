#include "lockstep/comm/element_type.h"

#include <array>

namespace lockstep::comm {
namespace {

constexpr std::array<std::string_view, kElementTypeCount> kNames = {"f32", "f64", "f16", "bf16",
                                                                    "i32", "i64", "u8"};
constexpr std::array<std::size_t, kElementTypeCount> kBytes = {4, 8, 2, 2, 4, 8, 1};

}  // namespace

std::size_t bytes_of(ElementType type) {
  return kBytes[static_cast<std::size_t>(type)];
}
std::string_view name_of(ElementType type) {
  return kNames[static_cast<std::size_t>(type)];
}

std::optional<ElementType> element_type_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<ElementType>(i);
  return std::nullopt;
}

}  // namespace lockstep::comm
