// A fragment of a trace: the slices of one rank in a file of JSON lines, the first of which is a header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::measure {

struct TraceHeader {
  int rank = 0;
  std::string host;
  std::int64_t clock_offset_ns = 0;
  std::size_t slices = 0;  // lines that follow
  std::uint64_t dropped = 0;
};

// What only an operation of a communicator has.
struct TraceOperation {
  std::string link;
  int channel = 0;
  std::string element_type;
  std::uint64_t input_elements = 0;
  std::uint64_t output_elements = 0;
  int ranks = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t wire_bytes = 0;
  std::int64_t peer_wait_ns = 0;
};

struct TraceSlice {
  std::string name;     // of the span or the collective
  std::string purpose;  // empty for spans other than exposed communication
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<TraceOperation> operation;  // none: a span of the training thread
};

struct TraceFragment {
  TraceHeader header;
  std::vector<TraceSlice> slices;
};

nlohmann::json to_json(const TraceHeader& header);
nlohmann::json to_json(const TraceSlice& slice);

// Throws StoreError that names file and line when it is missing, damaged or cut short.
TraceFragment read_fragment(const std::filesystem::path& path);

}  // namespace lockstep::measure
