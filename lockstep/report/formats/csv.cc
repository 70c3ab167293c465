// CSV by RFC 4180, numbers in base units in their shortest exact form: what is read back is what was written.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/report/formats/formats.h"

namespace lockstep::report {
namespace {

bool has_intervals(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return row[column].number && row[column].number->interval; });
}

void add(std::vector<std::string>& fields, const TableValue& cell, bool intervals) {
  fields.push_back(cell.number ? exact_text(cell.number->value) : base::csv_field(cell.text));
  if (!intervals) return;
  const bool known = cell.number && cell.number->interval;
  fields.push_back(known ? exact_text(cell.number->interval->low) : "");
  fields.push_back(known ? exact_text(cell.number->interval->high) : "");
  fields.push_back(cell.number ? std::to_string(cell.number->repeats) : "");
}

std::string line_of(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields)
    line += (line.empty() && &field == &fields.front() ? "" : ",") + field;
  return line + "\r\n";
}

template <class Item>
std::vector<std::string> numbered(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto same = [&](const Item& other) { return other.name == items[i].name; };
    const auto total = std::count_if(items.begin(), items.end(), same);
    const auto before = std::count_if(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i), same);
    names.push_back(total > 1 ? fmt::format("{}-{}", items[i].name, before + 1) : items[i].name);
  }
  return names;
}

}  // namespace

std::string csv_of(const Table& table) {
  std::vector<std::string> header;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const std::string& key = table.columns[column].key;
    header.push_back(base::csv_field(key));
    if (has_intervals(table, column))
      for (const char* part : {"_low", "_high", "_repeats"}) header.push_back(base::csv_field(key + part));
  }
  std::string text = line_of(header);
  for (const auto& row : table.rows) {
    std::vector<std::string> fields;
    for (std::size_t column = 0; column < row.size(); ++column)
      add(fields, row[column], has_intervals(table, column));
    text += line_of(fields);
  }
  return text;
}

std::string csv_of(const Report& report) {
  if (report.tables.size() == 1) return csv_of(report.tables.front());
  std::string text;
  for (const Table& table : report.tables)
    text += (text.empty() ? "" : "\r\n") + base::csv_field(fmt::format("# {}: {}", table.name, table.title)) +
            "\r\n" + csv_of(table);
  return text;
}

std::vector<std::string> file_names(const std::vector<Table>& tables) {
  return numbered(tables);
}

std::vector<std::string> file_names(const std::vector<Chart>& charts) {
  return numbered(charts);
}

}  // namespace lockstep::report
