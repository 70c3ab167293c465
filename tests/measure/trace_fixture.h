// A directory for the files of a trace, and a trace read back.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/measure/trace.h"

namespace lockstep::measure {

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-trace-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~TraceTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::filesystem::path file(const std::string& name) const { return directory_ / name; }
  std::filesystem::path written(const TraceRecorder& recorder, const std::string& name) const {
    recorder.write_fragment(file(name));
    return file(name);
  }
  // Merges the fragments and parses what came out.
  nlohmann::json merged(const std::vector<std::filesystem::path>& fragments) const {
    write_trace(file("trace.json"), fragments);
    return nlohmann::json::parse(std::ifstream(file("trace.json")));
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_), {}));
  }

 private:
  std::filesystem::path directory_;
};

// The slices of a parsed trace by process and track, in the order of the file.
using SlicesByTrack = std::map<std::pair<int, int>, std::vector<nlohmann::json>>;
inline SlicesByTrack slices_of(const nlohmann::json& trace) {
  SlicesByTrack slices;
  for (const nlohmann::json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X")
      slices[{event.at("pid").get<int>(), event.at("tid").get<int>()}].push_back(event);
  return slices;
}

// The "name" that a metadata event ("process_name", "thread_name") gives.
inline std::string name_given(const nlohmann::json& trace, const std::string& kind, int rank, int track) {
  for (const nlohmann::json& event : trace.at("traceEvents"))
    if (event.at("ph") == "M" && event.at("name") == kind && event.at("pid") == rank &&
        event.at("tid") == track)
      return event.at("args").at("name");
  return "";
}

inline void expect_no_overlap(const SlicesByTrack& tracks) {
  constexpr double kRounding = 1e-3;  // microseconds: one nanosecond
  for (const auto& [track, slices] : tracks)
    for (std::size_t i = 1; i < slices.size(); ++i) {
      const double before_ends = slices[i - 1].at("ts").get<double>() + slices[i - 1].at("dur").get<double>();
      EXPECT_LE(before_ends, slices[i].at("ts").get<double>() + kRounding)
          << slices[i - 1] << " reaches into " << slices[i];
    }
}

}  // namespace lockstep::measure
