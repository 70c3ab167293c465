// The element types a communicator can move and reduce.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lockstep::comm {

enum class ElementType { f32, f64, f16, bf16, i32, i64, u8 };
inline constexpr int kElementTypeCount = 7;

std::size_t bytes_of(ElementType type);
std::string_view name_of(ElementType type);
std::optional<ElementType> element_type_named(std::string_view name);

}  // namespace lockstep::comm
