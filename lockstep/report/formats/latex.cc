// LaTeX: a document of its own with booktabs tables; each table can be cut out of it.
#include <fmt/format.h>

#include <map>

#include "lockstep/base/text.h"
#include "lockstep/report/formats/formats.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kRowsOnPage = 40;

// Letters that pdfTeX's input encoding does not know by itself.
const std::map<std::string_view, std::string_view>& symbols() {
  static const std::map<std::string_view, std::string_view> kSymbols = {
      {"µ", "\\textmu{}"}, {"×", "$\\times$"}, {"−", "$-$"}, {"±", "$\\pm$"},  {"→", "$\\to$"},
      {"≥", "$\\geq$"},    {"≤", "$\\leq$"},   {"–", "--"},  {"…", "\\dots{}"}};
  return kSymbols;
}

std::size_t letter_bytes(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

std::string plain_ascii(char letter) {
  switch (letter) {
    case '\\':
      return "\\textbackslash{}";
    case '~':
      return "\\textasciitilde{}";
    case '^':
      return "\\textasciicircum{}";
    case '<':
      return "\\textless{}";
    case '>':
      return "\\textgreater{}";
    case '[':
    case ']':  // after \\ a bracket would be its argument
      return fmt::format("{{{}}}", letter);
    case '\n':
      return " ";
    default:
      break;
  }
  const bool special = std::string_view("&%$#_{}").find(letter) != std::string_view::npos;
  return fmt::format("{}{}", special ? "\\" : "", letter);
}

std::string plain(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = std::min(letter_bytes(static_cast<unsigned char>(text[at])), text.size() - at);
    const std::string_view letter = text.substr(at, bytes);
    at += bytes;
    if (bytes == 1)
      safe += plain_ascii(letter[0]);
    else if (const auto found = symbols().find(letter); found != symbols().end())
      safe += found->second;
    else
      safe += bytes == 2 ? std::string(letter) : "?";
  }
  return safe;
}

std::string latex_row(const std::vector<std::string>& cells) {
  std::string row;
  for (const std::string& cell : cells)
    row += (row.empty() && &cell == &cells.front() ? "" : " & ") + plain(cell);
  return row + " \\\\\n";
}

std::string page_of(const Table& table, std::size_t first, std::size_t end) {
  std::vector<std::string> cells;
  std::string alignment;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    cells.push_back(table.heading_of(column));
    alignment += table.is_numeric(column) ? 'r' : 'l';
  }
  std::string text =
      fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n{}\\midrule\n", alignment, latex_row(cells));
  for (std::size_t row = first; row < end; ++row) {
    cells.clear();
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      cells.push_back(table.text_of(row, column));
    text += latex_row(cells);
  }
  return text + "\\bottomrule\n\\end{tabular}";
}

std::string note_of(const Table& table) {
  std::vector<std::string> lines;
  for (const std::string& line : base::split(table.note, '\n')) lines.push_back(plain(line));
  return base::join(lines, "\n\n");
}

// Narrowed to the page where it is wider.
std::string latex_table(const Table& table) {
  std::string text;
  for (std::size_t first = 0; first < table.rows.size(); first += kRowsOnPage)
    text += fmt::format(
        "\\begin{{table}}[htbp]\n\\centering\n\\caption{{{}}}\n\\resizebox{{\\ifdim\\width>"
        "\\linewidth\\linewidth\\else"
        "\\width\\fi}}{{!}}{{%\n{}}}\n\n\\smallskip\n{{\\footnotesize {}}}\n\\end{{table}}\n\n",
        plain(table.title), page_of(table, first, std::min(first + kRowsOnPage, table.rows.size())),
        note_of(table));
  return text + "\\clearpage\n";
}

}  // namespace

std::string latex_of(const Report& report) {
  std::string text = "% " + plain(report.first_line) +
                     "\n\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage[utf8]{inputenc}"
                     "\n\\usepackage{textcomp}\n"
                     "\\usepackage{booktabs}\n\\usepackage{graphicx}\n\\begin{document}\n";
  text += fmt::format("\\noindent {}\n\n\\section*{{{}}}\n{}\n\n", plain(report.first_line),
                      plain(report.title), plain(report.notes));
  for (const Paragraph& paragraph : report.words) {
    text += fmt::format("\\subsection*{{{}}}\n",
                        paragraph.question.empty() ? "What else the figures say" : plain(paragraph.question));
    for (const Sentence& sentence : paragraph.sentences) text += plain(sentence.text) + "\n";
    text += "\n";
  }
  for (const Table& table : report.tables) text += latex_table(table);
  for (const PublishedNote& note : report.published)
    text += fmt::format("\\noindent\\textbf{{{}}} ({}): {}\n\n", plain(note.name), plain(note.source),
                        plain(note.definition));
  return text + "\\end{document}\n";
}

}  // namespace lockstep::report
