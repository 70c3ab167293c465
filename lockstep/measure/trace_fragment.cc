#include "lockstep/measure/trace_fragment.h"

#include <fmt/format.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::measure {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;

TraceHeader header_of(const json& line) {
  if (line.at("lockstep_trace").get<int>() != kFormat)
    throw base::StoreError("of another version of Lockstep");
  TraceHeader header;
  line.at("rank").get_to(header.rank);
  line.at("host").get_to(header.host);
  line.at("clock_offset_ns").get_to(header.clock_offset_ns);
  line.at("slices").get_to(header.slices);
  line.at("dropped").get_to(header.dropped);
  return header;
}

TraceOperation operation_of(const json& line) {
  TraceOperation operation;
  line.at("link").get_to(operation.link);
  line.at("channel").get_to(operation.channel);
  line.at("element_type").get_to(operation.element_type);
  line.at("input_elements").get_to(operation.input_elements);
  line.at("output_elements").get_to(operation.output_elements);
  line.at("ranks").get_to(operation.ranks);
  line.at("payload_bytes").get_to(operation.payload_bytes);
  line.at("wire_bytes").get_to(operation.wire_bytes);
  line.at("peer_wait_ns").get_to(operation.peer_wait_ns);
  return operation;
}

TraceSlice slice_of(const json& line) {
  TraceSlice slice;
  line.at("name").get_to(slice.name);
  slice.purpose = line.value("purpose", "");
  line.at("begin_ns").get_to(slice.begin_ns);
  line.at("end_ns").get_to(slice.end_ns);
  if (line.contains("link")) slice.operation = operation_of(line);
  return slice;
}

void add_operation(json& line, const TraceOperation& operation) {
  line["link"] = operation.link;
  line["channel"] = operation.channel;
  line["element_type"] = operation.element_type;
  line["input_elements"] = operation.input_elements;
  line["output_elements"] = operation.output_elements;
  line["ranks"] = operation.ranks;
  line["payload_bytes"] = operation.payload_bytes;
  line["wire_bytes"] = operation.wire_bytes;
  line["peer_wait_ns"] = operation.peer_wait_ns;
}

// Reads lines and knows where it is, for messages.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& path) : path_(path), stream_(path) {
    if (!stream_) refuse(base::errno_text());
  }
  // The next line by `convert`.
  template <class Convert>
  auto next(const Convert& convert) {
    ++number_;
    std::string text;
    if (!std::getline(stream_, text)) refuse("it ends too early");
    try {
      return convert(base::parse_json(text));
    } catch (const std::exception& error) {
      refuse(error.what());
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw base::StoreError(
        fmt::format("the trace fragment {} cannot be read (line {}): {}", path_.string(), number_, why));
  }

  std::filesystem::path path_;
  std::ifstream stream_;
  std::size_t number_ = 0;
};

}  // namespace

json to_json(const TraceHeader& header) {
  return {{"lockstep_trace", kFormat}, {"rank", header.rank},
          {"host", header.host},       {"clock_offset_ns", header.clock_offset_ns},
          {"slices", header.slices},   {"dropped", header.dropped}};
}

json to_json(const TraceSlice& slice) {
  json line = {{"name", slice.name}, {"begin_ns", slice.begin_ns}, {"end_ns", slice.end_ns}};
  if (!slice.purpose.empty()) line["purpose"] = slice.purpose;
  if (slice.operation) add_operation(line, *slice.operation);
  return line;
}

TraceFragment read_fragment(const std::filesystem::path& path) {
  Lines lines(path);
  TraceFragment fragment;
  fragment.header = lines.next(header_of);
  for (std::size_t i = 0; i < fragment.header.slices; ++i) fragment.slices.push_back(lines.next(slice_of));
  return fragment;
}

}  // namespace lockstep::measure
