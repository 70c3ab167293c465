// SVG text: escaping, numbers as attributes, and how wide a text will be. Nothing measures fonts here, so
// widths are estimates on the safe side.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::report {

// For text and for attributes in double quotes; letters that XML forbids are left out.
std::string escape(std::string_view text);

using Attributes = std::vector<std::pair<std::string, std::string>>;

// <name a="b">content</name>; an element without content closes itself. The content is markup already.
std::string element(std::string_view name, const Attributes& attributes, std::string_view content = "");
std::string text_element(double x, double y, std::string_view text, std::string_view anchor,
                         std::string_view style_class);
std::string line_element(double x1, double y1, double x2, double y2, std::string_view style_class);
std::string rect_element(double x, double y, double width, double height, const Attributes& more);

// A coordinate: two decimals, no more.
std::string pixels(double value);

inline constexpr double kFontPixels = 12;
inline constexpr double kTickPixels = 11;  // of the class "tick"
// Of the widest of the usual sans-serif fonts.
double text_width(std::string_view text, double font_pixels = kFontPixels);
// Broken between words into lines of at most that width; a longer word is broken where it must be.
std::vector<std::string> wrap(std::string_view text, double width, double font_pixels = kFontPixels);

}  // namespace lockstep::report
