// A table of a report: columns with units, cells that are words or numbers with their intervals. Every format
// is written from this; numbers are in base units here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/report/model/display.h"

namespace lockstep::report {

struct TableColumn {
  std::string key;                // "step_seconds": in CSV and JSON
  std::string heading;            // "step"
  std::string unit = {};          // of the numbers: "s", "B", "B/s", "1/s", "%", "dB", ""
  bool exact = false;             // shown with all digits
  std::string definition = {};    // where the heading alone could mislead
  std::string published_by = {};  // the source, where the figures are somebody else's
  bool as_given = false;          // shown in its base unit, so that it can be held against a published one
  bool share = false;             // of 1: shown in percent
};

struct TableValue {
  std::string text = {};  // of a word; empty and no number: unknown
  std::optional<Number> number = {};

  bool known() const { return number.has_value() || !text.empty(); }
};

struct Table {
  std::string name;  // of the registry
  std::string title;
  std::string note = {};  // one paragraph a line
  std::vector<TableColumn> columns = {};
  std::vector<std::vector<TableValue>> rows = {};
  bool one_unit = false;  // for all columns of the same base unit: parts that are held against each other

  // The unit in which a column is shown: fit for its largest number.
  DisplayUnit unit_of(std::size_t column) const;
  double largest_of(std::size_t column) const;
  // "step, ms"; "published: ..." where it is.
  std::string heading_of(std::size_t column) const;
  // What a cell shows; empty when unknown.
  std::string text_of(std::size_t row, std::size_t column) const;
  bool is_numeric(std::size_t column) const;
};

TableValue word(std::string text);
TableValue value(std::optional<Number> number);
TableValue value(std::optional<double> number);
TableValue count(double number);

// Without the columns in which nothing is known, and without rows that are then empty.
Table without_unknown(Table table);

}  // namespace lockstep::report
