#include "lockstep/cli/text_table.h"

#include <algorithm>

#include "lockstep/base/printable.h"

namespace lockstep::cli {

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

// A row stays a row, whatever the names in it hold.
void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = base::printable_line(cell);
  rows_.push_back(std::move(cells));
}

// 0 for a column without a value in any row.
std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(columns_[i].heading));
  return widths;
}

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    const std::string padding(widths[i] - display_width(cells[i]), ' ');
    if (!text.empty()) text += "  ";
    text += columns_[i].right ? padding + cells[i] : cells[i] + padding;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string TextTable::text(const Console& console, std::size_t indent) const {
  const std::vector<std::size_t> sizes = widths();
  const std::string before(indent, ' ');
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  std::string text = before + console.styled(line(headings, sizes), Tone::quiet) + "\n";
  for (const auto& row : rows_) text += before + line(row, sizes) + "\n";
  return text;
}

}  // namespace lockstep::cli
