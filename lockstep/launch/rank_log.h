// What one rank wrote: kept in a file, the last lines also here.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "lockstep/base/unique_fd.h"

namespace lockstep::launch {

class RankLog {
 public:
  // Called when the file cannot be written; the log then keeps only the last lines.
  using OnTrouble = std::function<void(const std::string& what)>;

  static constexpr std::size_t kLastLines = 10;

  // The file, and the directory it lies in, are made with the first line; for their user alone where they are
  // to be private.
  RankLog(std::filesystem::path file, OnTrouble on_trouble, bool is_private = false);

  void add_line(std::string_view line);
  void flush();
  const std::deque<std::string>& last_lines() const { return last_lines_; }
  bool has_file() const { return static_cast<bool>(file_); }

 private:
  void open_file();
  void give_up();

  std::filesystem::path path_;
  OnTrouble on_trouble_;
  bool is_private_;
  base::UniqueFd file_;
  bool gave_up_ = false;
  std::string unwritten_;
  std::deque<std::string> last_lines_;
};

}  // namespace lockstep::launch
