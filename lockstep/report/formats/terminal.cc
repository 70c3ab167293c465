// For a terminal: words wrapped, tables aligned.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/report/formats/formats.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kWidth = 100;

std::size_t places(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string lines, line(indent, ' ');
  for (const std::string& word : base::split(text, ' ')) {
    if (places(line) + places(word) + 1 > kWidth && places(line) > indent) {
      lines += line + "\n";
      line = std::string(indent, ' ');
    }
    line += (places(line) > indent ? " " : "") + word;
  }
  return lines + line + "\n";
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, places(text)), ' ');
  return right ? space + text : text + space;
}

std::string table_text(const Table& table) {
  const std::size_t columns = table.columns.size();
  std::vector<std::vector<std::string>> lines(1);
  for (std::size_t column = 0; column < columns; ++column) lines[0].push_back(table.heading_of(column));
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    lines.emplace_back();
    for (std::size_t column = 0; column < columns; ++column)
      lines.back().push_back(table.text_of(row, column));
  }
  std::vector<std::size_t> widths(columns, 0);
  for (const auto& line : lines)
    for (std::size_t column = 0; column < columns; ++column)
      widths[column] = std::max(widths[column], places(line[column]));
  std::string text;
  for (const auto& line : lines) {
    std::string row = " ";
    for (std::size_t column = 0; column < columns; ++column)
      row += fmt::format(" {} ", padded(line[column], widths[column], table.is_numeric(column)));
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string words_text(const Report& report, bool explain) {
  std::string text;
  for (const Paragraph& paragraph : report.words) {
    text += '\n';
    text += wrapped(paragraph.question.empty() ? "What else the figures say" : paragraph.question, 0);
    for (const Sentence& sentence : paragraph.sentences) {
      text += wrapped(sentence.text, 2);
      if (!explain) continue;
      for (const Evidence& evidence : sentence.rests_on)
        text += wrapped(fmt::format("- {} at {}: {}", evidence.field, evidence.cell, evidence.value), 6);
    }
  }
  return text;
}

}  // namespace

std::string terminal_of(const Report& report, const FormatOptions& options) {
  std::string text = wrapped(report.first_line, 0) + "\n" + report.title + "\n";
  if (!report.notes.empty()) text += wrapped(report.notes, 0);
  text += words_text(report, options.explain);
  for (const Table& table : report.tables) {
    text += "\n" + table.title + "\n" + table_text(table);
    for (const std::string& line : base::split(table.note, '\n')) text += wrapped(line, 2);
  }
  if (!report.published.empty()) text += "\nPublished figures: what they mean\n";
  for (const PublishedNote& note : report.published)
    text += wrapped(fmt::format("{} ({}): {}", note.name, note.source, note.definition), 2);
  if (!report.warnings.empty()) text += "\nWarnings\n";
  for (const std::string& warning : report.warnings) text += wrapped(warning, 2);
  return text;
}

}  // namespace lockstep::report
