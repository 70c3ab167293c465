// Markdown with the tables of GitHub's dialect.
#include <fmt/format.h>

#include "lockstep/base/text.h"
#include "lockstep/report/formats/formats.h"

namespace lockstep::report {
namespace {

// So that a text stays a text: nothing in it becomes markup, and no line break ends a row.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '\n' || letter == '\r') {
      safe += ' ';
      continue;
    }
    if (std::string_view("|*_`<>[]\\").find(letter) != std::string_view::npos) safe += '\\';
    safe += letter;
  }
  return safe;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row + "\n";
}

std::string markdown_table(const Table& table) {
  std::string text = fmt::format("\n## {}\n\n", plain(table.title));
  for (const std::string& line : base::split(table.note, '\n')) text += plain(line) + "\n\n";
  std::vector<std::string> cells;
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    cells.push_back(plain(table.heading_of(column)));
  text += markdown_row(cells) + "|";
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    text += table.is_numeric(column) ? "---:|" : "---|";
  text += "\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    cells.clear();
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      cells.push_back(plain(table.text_of(row, column)));
    text += markdown_row(cells);
  }
  return text;
}

std::string markdown_words(const Report& report, bool explain) {
  std::string text;
  for (const Paragraph& paragraph : report.words) {
    text += fmt::format("\n## {}\n\n",
                        paragraph.question.empty() ? "What else the figures say" : plain(paragraph.question));
    for (const Sentence& sentence : paragraph.sentences) {
      text += plain(sentence.text) + "\n";
      if (!explain) continue;
      for (const Evidence& evidence : sentence.rests_on)
        text += fmt::format("  ({} at {}: {})\n", plain(evidence.field), plain(evidence.cell),
                            plain(evidence.value));
    }
  }
  return text;
}

std::string charts_text(const Report& report, const std::string& folder) {
  if (folder.empty()) return "";
  std::string text;
  const std::vector<std::string> names = file_names(report.charts);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("\n![{}]({}/{}.svg)\n", plain(report.charts[i].title), folder, names[i]);
  return text.empty() ? "" : "\n## Charts\n" + text;
}

std::string lists_text(const Report& report) {
  std::string text;
  if (!report.published.empty()) text += "\n## Published figures: what they mean\n\n";
  for (const PublishedNote& note : report.published)
    text += fmt::format("- **{}** ({}): {}\n", plain(note.name), plain(note.source), plain(note.definition));
  if (!report.warnings.empty()) text += "\n## Warnings\n\n";
  for (const std::string& warning : report.warnings) text += fmt::format("- {}\n", plain(warning));
  if (!report.machines.empty()) text += "\n## Machines\n\n";
  for (const std::string& machine : report.machines) text += fmt::format("- {}\n", plain(machine));
  return text;
}

}  // namespace

std::string markdown_of(const Report& report, const FormatOptions& options) {
  std::string text = fmt::format("> {}\n\n# {}\n", plain(report.first_line), plain(report.title));
  if (!report.notes.empty()) text += fmt::format("\n{}\n", plain(report.notes));
  text += markdown_words(report, options.explain);
  for (const Table& table : report.tables) text += markdown_table(table);
  return text + charts_text(report, options.chart_folder) + lists_text(report);
}

}  // namespace lockstep::report
