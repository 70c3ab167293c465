// Frames of a car's centre camera with the steering angle, as Udacity's simulator records them:
// driving_log.csv (center, left, right, steering, throttle, brake, speed; with or without a header) and IMG/.
//
// Neighbouring frames are nearly the same, so a random split would put each validation frame's twin into
// training. The log is cut into contiguous blocks instead, and every fifth block is for validation.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/data/sampler.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlocks = 25;
constexpr std::size_t kBlocksPerValidation = 5;
constexpr std::size_t kValidationOf = 2;  // the middle one of each five

struct Row {
  fs::path frame;
  float angle;
};

std::optional<float> parse_angle(const std::string& text) {
  float angle = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), angle);
  const bool whole = result.ec == std::errc() && result.ptr == text.data() + text.size();
  return whole && std::isfinite(angle) ? std::optional(angle) : std::nullopt;
}

// The simulator writes absolute paths of the machine it ran on; the frame then lies in IMG/ beside the log.
fs::path find_frame(const fs::path& directory, std::string named) {
  std::replace(named.begin(), named.end(), '\\', '/');
  const fs::path as_written = directory / named;
  return fs::exists(as_written) ? as_written : directory / "IMG" / fs::path(named).filename();
}

Row parse_row(const fs::path& log, int line_number, const std::string& line) {
  const auto fields = base::split(line, ',');
  const std::string where = fmt::format("{}:{}: ", log.string(), line_number);
  if (fields.size() < 4) {
    throw base::DataError(
        fmt::format("{}{} fields where at least 4 (center,left,right,steering) belong. The line is "
                    "truncated: remove it or get the log again.",
                    where, fields.size()));
  }
  const std::string text = base::trim(fields[3]);
  const auto angle = parse_angle(text);
  if (!angle) throw base::DataError(fmt::format("{}the steering angle '{}' is not a number.", where, text));
  if (std::abs(*angle) > 1) {
    throw base::DataError(
        fmt::format("{}the steering angle {} is outside [-1, 1]. Scale the log's angles.", where, text));
  }
  const fs::path frame = find_frame(log.parent_path(), base::trim(fields[0]));
  if (!fs::exists(frame)) {
    throw base::DataError(fmt::format("{}the frame {} is missing. Put the frames into {}.", where,
                                      frame.string(), (log.parent_path() / "IMG").string()));
  }
  return {frame, *angle};
}

bool is_header(const std::string& line) {
  const auto fields = base::split(line, ',');
  return fields.size() >= 4 && base::trim(fields[0]) == "center";
}

std::vector<Row> read_log(const fs::path& log) {
  std::ifstream stream(log);
  if (!stream) throw base::DataError(fmt::format("{} cannot be read: {}.", log.string(), base::errno_text()));
  std::vector<Row> rows;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (base::trim(line).empty() || (number == 1 && is_header(line))) continue;
    rows.push_back(parse_row(log, number, line));
  }
  if (rows.size() < kBlocks) {
    throw base::DataError(fmt::format("{} has {} frames: too few to split (at least {} are needed).",
                                      log.string(), rows.size(), kBlocks));
  }
  return rows;
}

bool block_belongs(std::size_t block, Split split) {
  const bool validation = block % kBlocksPerValidation == kValidationOf;
  return validation == (split == Split::validation);
}

}  // namespace

SampleSet load_driving(const SetRequest& request) {
  const std::vector<Row> rows = read_log(request.directory / "driving_log.csv");
  SampleSet set;
  set.task = record::Task::steering;
  std::vector<fs::path> frames;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    if (!block_belongs(block, request.split)) continue;
    const Share share = share_of(rows.size(), kBlocks, block);
    for (std::size_t i = share.begin; i < share.begin + share.count; ++i) {
      frames.push_back(rows[i].frame);
      set.values.push_back(rows[i].angle);
    }
  }
  set.images = read_resized(frames, request.input.height, request.input.width);
  return set;
}

}  // namespace lockstep::data
