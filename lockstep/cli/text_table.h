// A small table for people: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cli/console.h"

namespace lockstep::cli {

struct Column {
  std::string heading;
  bool right = true;  // aligned
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // With `indent` spaces before each line. A column that is empty in every row is left out.
  std::string text(const Console& console, std::size_t indent = 2) const;

 private:
  std::vector<std::size_t> widths() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// How many places a text takes on a terminal, counting letters of several bytes once.
std::size_t display_width(std::string_view text);

}  // namespace lockstep::cli
