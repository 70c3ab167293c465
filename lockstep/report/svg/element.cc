#include "lockstep/report/svg/element.h"

#include <fmt/format.h>

#include "lockstep/base/text.h"

namespace lockstep::report {
namespace {

constexpr double kLetterShare = 0.64;  // of the font's size

bool continues_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

std::size_t letters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += continues_letter(byte) ? 0 : 1;
  return count;
}

// The first letters of a word that fit.
std::string_view head_of(std::string_view word, double width, double font_pixels) {
  std::size_t end = word.size();
  while (end > 1 && (text_width(word.substr(0, end), font_pixels) > width ||
                     (end < word.size() && continues_letter(word[end]))))
    --end;
  return word.substr(0, end);
}

}  // namespace

std::string escape(std::string_view text) {
  std::string safe;
  for (const char byte : text) {
    switch (byte) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(byte) >= 0x20 || byte == '\n' || byte == '\t') safe += byte;
    }
  }
  return safe;
}

std::string element(std::string_view name, const Attributes& attributes, std::string_view content) {
  std::string text = fmt::format("<{}", name);
  for (const auto& [key, value] : attributes) text += fmt::format(" {}=\"{}\"", key, escape(value));
  return content.empty() ? text + "/>" : text + fmt::format(">{}</{}>", content, name);
}

std::string pixels(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string text_element(double x, double y, std::string_view text, std::string_view anchor,
                         std::string_view style_class) {
  return element("text",
                 {{"x", pixels(x)},
                  {"y", pixels(y)},
                  {"text-anchor", std::string(anchor)},
                  {"class", std::string(style_class)}},
                 escape(text));
}

std::string line_element(double x1, double y1, double x2, double y2, std::string_view style_class) {
  return element("line", {{"x1", pixels(x1)},
                          {"y1", pixels(y1)},
                          {"x2", pixels(x2)},
                          {"y2", pixels(y2)},
                          {"class", std::string(style_class)}});
}

std::string rect_element(double x, double y, double width, double height, const Attributes& more) {
  Attributes attributes = {
      {"x", pixels(x)}, {"y", pixels(y)}, {"width", pixels(width)}, {"height", pixels(height)}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return element("rect", attributes);
}

double text_width(std::string_view text, double font_pixels) {
  return kLetterShare * font_pixels * static_cast<double>(letters(text));
}

std::vector<std::string> wrap(std::string_view text, double width, double font_pixels) {
  std::vector<std::string> lines = {""};
  for (const std::string& word : base::split(text, ' ')) {
    std::string_view rest = word;
    const std::string joined = lines.back().empty() ? word : lines.back() + " " + word;
    if (text_width(joined, font_pixels) <= width) {
      lines.back() = joined;
      continue;
    }
    if (!lines.back().empty()) lines.emplace_back();
    while (text_width(rest, font_pixels) > width && letters(rest) > 1) {
      const std::string_view head = head_of(rest, width, font_pixels);
      lines.back() = head;
      lines.emplace_back();
      rest.remove_prefix(head.size());
    }
    lines.back() = rest;
  }
  return lines;
}

}  // namespace lockstep::report
