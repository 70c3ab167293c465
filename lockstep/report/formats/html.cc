// The report as one HTML file that needs nothing else: no request, no script to be complete.
#include <fmt/format.h>

#include "lockstep/base/text.h"
#include "lockstep/report/formats/content_policy.h"
#include "lockstep/report/formats/formats.h"
#include "lockstep/report/formats/page.h"
#include "lockstep/report/svg/draw.h"
#include "lockstep/report/svg/element.h"

namespace lockstep::report {
namespace {

std::string tag(std::string_view name, std::string_view text) {
  return fmt::format("<{0}>{1}</{0}>\n", name, escape(text));
}

std::string head_cell(const Table& table, std::size_t column) {
  const TableColumn& described = table.columns[column];
  std::string classes = table.is_numeric(column) ? "number" : "";
  if (!described.published_by.empty()) classes += classes.empty() ? "published" : " published";
  Attributes attributes = {{"scope", "col"}};
  if (!classes.empty()) attributes.push_back({"class", classes});
  if (!described.definition.empty()) attributes.push_back({"title", described.definition});
  return element("th", attributes, escape(table.heading_of(column)));
}

std::string body_cell(const Table& table, std::size_t row, std::size_t column) {
  const TableValue& cell = table.rows[row][column];
  constexpr std::size_t kLongText = 40;
  const std::string text = table.text_of(row, column);
  // What is not known stands where the numbers of its column do.
  const bool number = cell.number || (text.empty() && table.is_numeric(column));
  std::string classes = number ? "number" : text.size() > kLongText ? "text" : "";
  if (!table.columns[column].published_by.empty()) classes += classes.empty() ? "published" : " published";
  Attributes attributes;
  if (!classes.empty()) attributes.push_back({"class", classes});
  if (cell.number) attributes.push_back({"data-value", exact_text(cell.number->value)});
  return element("td", attributes, text.empty() ? "<span aria-label=\"not known\">–</span>" : escape(text));
}

std::string table_html(const Table& table, const std::string& label) {
  std::string rows, head;
  for (std::size_t column = 0; column < table.columns.size(); ++column) head += head_cell(table, column);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    rows += "<tr>";
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      rows += body_cell(table, row, column);
    rows += "</tr>\n";
  }
  return element("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", label}},
                 fmt::format("<table data-table=\"{}\"><thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table>",
                             escape(table.name), head, rows)) +
         "\n";
}

std::string block_swatch(const std::string& classes) {
  return fmt::format("<span class=\"swatch {}\"></span>", classes);
}

// The series' own shape in its colour, a block where it has none.
std::string series_swatch(const Chart& chart, std::size_t series) {
  if (!has_marker(chart)) return block_swatch(series_class(chart, series));
  const bool dashed = is_dashed(chart, series);
  return element("svg",
                 {{"class", "key " + series_class(chart, series)},
                  {"viewBox", fmt::format("0 0 {} 12", pixels(dashed ? kDashedKey : 12))},
                  {"aria-hidden", "true"}},
                 series_key(style_of(chart, series), dashed, 0, 6));
}

std::string legend_item(const std::string& swatch, const std::string& text, const std::string& series) {
  Attributes attributes;
  if (!series.empty()) attributes.push_back({"data-legend", series});
  return element("li", attributes, swatch + "<span>" + escape(text) + "</span>");
}

std::string legend_html(const Chart& chart) {
  std::string items;
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    if (!chart.series[i].name.empty())
      items += legend_item(series_swatch(chart, i), chart.series[i].name, std::to_string(i));
  for (const ChartRule& rule : chart.rules)
    items += legend_item(block_swatch("rule"), rule.label + ": " + with_unit(rule.value, chart.y.unit), "");
  return items.empty() ? "" : "<ul class=\"legend\">" + items + "</ul>\n";
}

std::string figure_html(const Chart& chart, std::size_t number) {
  const std::string id = fmt::format("chart{}", number);
  return fmt::format("<figure id=\"{}\">\n<figcaption><h3>{}</h3></figcaption>\n", id, escape(chart.title)) +
         draw(chart, {id, false}) + legend_html(chart) +
         (chart.note.empty() ? "" : "<p class=\"note\">" + escape(chart.note) + "</p>\n") +
         "<details><summary>The numbers of this chart</summary>\n" +
         table_html(table_of(chart), "numbers of: " + chart.title + fmt::format(" (figure {})", number + 1)) +
         "</details>\n</figure>\n";
}

std::string evidence_html(const Paragraph& paragraph, bool open) {
  std::string items;
  for (const Sentence& sentence : paragraph.sentences)
    for (const Evidence& evidence : sentence.rests_on)
      items += "<li>" + escape(fmt::format("{} at {}: {}", evidence.field, evidence.cell, evidence.value)) +
               "</li>\n";
  if (items.empty()) return "";
  return fmt::format("<details{}><summary>The fields that this rests on</summary><ul>\n{}</ul></details>\n",
                     open ? " open" : "", items);
}

std::string sentence_html(const Sentence& sentence) {
  return fmt::format("<span{} data-finding=\"{}\">{}</span>\n",
                     sentence.finding.starts_with("try-") ? " class=\"try\"" : "", escape(sentence.finding),
                     escape(sentence.text));
}

// Each finding on its own, with what to try about it.
std::string paragraph_html(const Paragraph& paragraph, bool explain) {
  std::string text;
  for (const Sentence& sentence : paragraph.sentences) {
    const bool goes_on = sentence.finding.starts_with("try-") || sentence.finding.starts_with("grew-") ||
                         sentence.finding.starts_with("threads") || sentence.finding == "all-well" ||
                         sentence.finding == "scales-well";
    if (!goes_on || text.empty()) text += text.empty() ? "<p>" : "</p>\n<p>";
    text += sentence_html(sentence);
  }
  const std::string question = paragraph.question.empty() ? "What else the figures say" : paragraph.question;
  return tag("h2", question) + text + "</p>\n" + evidence_html(paragraph, explain);
}

std::string tables_html(const Report& report) {
  std::string html;
  for (const Table& table : report.tables) {
    html += tag("h3", table.title) + table_html(table, table.title);
    for (const std::string& line : base::split(table.note, '\n'))
      html += "<p class=\"note\">" + escape(line) + "</p>\n";
  }
  return html.empty() ? "" : "<h2>Tables</h2>\n" + html;
}

std::string published_html(const Report& report) {
  if (report.published.empty()) return "";
  std::string html = "<h2>Published figures: what they mean</h2>\n<dl>\n";
  for (const PublishedNote& note : report.published)
    html += tag("dt", note.name + " (" + note.source + ")") + tag("dd", note.definition);
  return html + "</dl>\n";
}

std::string list_html(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string html = tag("h2", title) + "<ul>\n";
  for (const std::string& line : lines) html += tag("li", line);
  return html + "</ul>\n";
}

std::string main_html(const Report& report, const FormatOptions& options) {
  std::string html;
  for (const Paragraph& paragraph : report.words) html += paragraph_html(paragraph, options.explain);
  if (!report.charts.empty()) html += "<h2>Charts</h2>\n<div class=\"figures\">\n";
  for (std::size_t i = 0; i < report.charts.size(); ++i) html += figure_html(report.charts[i], i);
  if (!report.charts.empty()) html += "</div>\n";
  return html + tables_html(report) + published_html(report) + list_html("Warnings", report.warnings);
}

}  // namespace

std::string html_of(const Report& report, const FormatOptions& options) {
  const std::string style = page_style(), script = page_script();
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += element("meta",
                  {{"http-equiv", "Content-Security-Policy"}, {"content", content_policy(style, script)}});
  html += "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
          tag("title", report.title);
  html += "<style>" + style + "</style>\n</head>\n<body>\n<header>\n";
  html += "<p class=\"cut\">" + escape(report.first_line) + "</p>\n" + tag("h1", report.title);
  if (!report.notes.empty()) html += tag("p", report.notes);
  html += "</header>\n<main>\n" + main_html(report, options) + "</main>\n<footer>\n";
  html += list_html("Machines", report.machines);
  html += "</footer>\n<div id=\"tip\" role=\"status\" hidden></div>\n<script>" + script +
          "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace lockstep::report
