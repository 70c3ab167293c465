#include "lockstep/report/model/table.h"

#include <algorithm>
#include <cmath>

namespace lockstep::report {

DisplayUnit Table::unit_of(std::size_t column) const {
  const TableColumn& described = columns[column];
  if (described.exact || described.as_given || !described.published_by.empty()) return {1, described.unit};
  if (described.share) return {0.01, "%"};
  double largest = largest_of(column);
  for (std::size_t other = 0; one_unit && other < columns.size(); ++other)
    if (columns[other].unit == described.unit) largest = std::max(largest, largest_of(other));
  return display_unit(described.unit, largest);
}

double Table::largest_of(std::size_t column) const {
  double largest = 0;
  for (const auto& row : rows)
    if (const auto& number = row[column].number; number && std::isfinite(number->value))
      largest = std::max(largest, std::abs(number->value));
  return largest;
}

std::string Table::heading_of(std::size_t column) const {
  const TableColumn& described = columns[column];
  const std::string unit = unit_of(column).name;
  const std::string heading =
      unit.empty() || !is_numeric(column) ? described.heading : described.heading + ", " + unit;
  return described.published_by.empty() ? heading : "published: " + heading;
}

std::string Table::text_of(std::size_t row, std::size_t column) const {
  const TableValue& cell = rows[row][column];
  // Somebody else's digits are not rounded.
  if (cell.number && !columns[column].published_by.empty() && !columns[column].exact)
    return exact_text(cell.number->value);
  return cell.number ? display(*cell.number, unit_of(column), columns[column].exact) : cell.text;
}

bool Table::is_numeric(std::size_t column) const {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row[column].number.has_value(); });
}

TableValue word(std::string text) {
  return {std::move(text), std::nullopt};
}

TableValue value(std::optional<Number> number) {
  return {"", number};
}

TableValue value(std::optional<double> number) {
  return number ? TableValue{"", Number{*number, std::nullopt, 1}} : TableValue{};
}

TableValue count(double number) {
  return value(std::optional(number));
}

Table without_unknown(Table table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    const auto known = [&](const auto& row) { return row[column].known(); };
    if (std::any_of(table.rows.begin(), table.rows.end(), known)) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  std::erase_if(table.rows, [](const auto& row) { return row.empty(); });
  return table;
}

}  // namespace lockstep::report
