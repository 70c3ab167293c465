#include "lockstep/lab/run_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::lab {
namespace {

namespace fs = std::filesystem;

// The rank of "rank12.jsonl".
std::optional<int> rank_of(const std::string& name) {
  constexpr std::string_view kBegin = "rank", kEnd = ".jsonl";
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  const char* end = name.data() + name.size() - kEnd.size();
  int rank = 0;
  const auto [rest, error] = std::from_chars(name.data() + kBegin.size(), end, rank);
  if (error != std::errc() || rest != end) return std::nullopt;
  return rank;
}

std::map<int, fs::path> rank_files(const RunDirectory& run) {
  std::map<int, fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.path(), ignored))
    if (const auto rank = rank_of(entry.path().filename().string())) files[*rank] = entry.path();
  return files;
}

std::vector<record::Event> events_of(const fs::path& file, std::vector<std::string>& damage) {
  std::vector<record::Event> events;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) damage.push_back(fmt::format("{} cannot be read: {}", file.string(), base::errno_text()));
  std::string line;
  for (int number = 1; std::getline(stream, line) && !stream.eof(); ++number) {
    if (line.empty()) continue;
    try {
      if (auto event = record::event_from_line(line)) events.push_back(std::move(*event));
    } catch (const base::StoreError& error) {
      damage.push_back(fmt::format("{}:{}: {} What follows it is left out.", file.filename().string(), number,
                                   error.what()));
      break;
    }
  }
  return events;
}

bool tells_an_end(const std::string& line) {
  const auto kind = record::kind_of_line(line);
  return kind == record::FinishedEvent::kName || kind == record::FailedEvent::kName;
}

// The end of a file, large enough for a last event.
std::string tail_of(const fs::path& file) {
  constexpr std::streamoff kTailBytes = 64 * 1024;
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  const std::streamoff begin = std::max<std::streamoff>(0, std::streamoff(stream.tellg()) - kTailBytes);
  stream.seekg(begin);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

RunEvents read_run_events(const RunDirectory& run) {
  RunEvents events;
  std::vector<std::vector<record::Event>> ranks;
  for (const auto& [rank, file] : rank_files(run)) ranks.push_back(events_of(file, events.damage));
  events.merged = record::merge_events(std::move(ranks));
  return events;
}

bool has_rank_files(const RunDirectory& run) {
  return !rank_files(run).empty();
}

bool has_ended(const RunDirectory& run, int rank) {
  const std::string tail = tail_of(run.rank_file(rank));
  if (!tail.ends_with('\n')) return false;
  const std::vector<std::string> lines = base::split(tail, '\n');
  return std::any_of(lines.begin(), lines.end(), tells_an_end);
}

}  // namespace lockstep::lab
