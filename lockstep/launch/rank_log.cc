#include "lockstep/launch/rank_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"

namespace lockstep::launch {
namespace {

constexpr std::size_t kLongestKeptLine = 500;

}  // namespace

RankLog::RankLog(std::filesystem::path file, OnTrouble on_trouble, bool is_private)
    : path_(std::move(file)), on_trouble_(std::move(on_trouble)), is_private_(is_private) {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);  // of an earlier run in this directory
}

void RankLog::add_line(std::string_view line) {
  unwritten_.append(line).push_back('\n');
  last_lines_.emplace_back(line.substr(0, kLongestKeptLine));
  if (last_lines_.size() > kLastLines) last_lines_.pop_front();
}

void RankLog::open_file() {
  const base::PrivateFiles private_files(is_private_);
  std::error_code ignored;
  std::filesystem::create_directories(path_.parent_path(), ignored);
  file_.reset(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
}

void RankLog::give_up() {
  gave_up_ = true;
  on_trouble_("cannot write " + path_.string() + ": " + base::errno_text());
}

void RankLog::flush() {
  if (!unwritten_.empty() && !file_ && !gave_up_) {
    open_file();
    if (!file_) give_up();
  }
  std::string_view rest = unwritten_;
  while (!rest.empty() && !gave_up_) {
    const ssize_t count = write(file_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) give_up();
    rest.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  unwritten_.clear();
}

}  // namespace lockstep::launch
