// Merges the fragments of all ranks into one Chrome trace: clocks aligned, a track for each thing that acts.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/measure/trace.h"
#include "lockstep/measure/trace_fragment.h"
#include "lockstep/measure/whole_file.h"

namespace lockstep::measure {
namespace {

using nlohmann::json;

// The tracks of a rank; the training thread sorts before the communicators.
struct TrackKey {
  int channel = -1;  // -1: the training thread
  std::string link;
  auto operator<=>(const TrackKey&) const = default;
};
using Tracks = std::map<TrackKey, std::vector<TraceSlice>>;

// Kineto's words for element types, which tools that read its traces look up to find sizes.
std::string kineto_type(const std::string& element_type) {
  static const std::map<std::string, std::string> kTypes = {
      {"f32", "Float"}, {"f64", "Double"}, {"f16", "Half"}, {"bf16", "BFloat16"},
      {"i32", "Int"},   {"i64", "Long"},   {"u8", "Byte"}};
  const auto found = kTypes.find(element_type);
  return found == kTypes.end() ? element_type : found->second;
}

TrackKey track_of(const TraceSlice& slice) {
  return slice.operation ? TrackKey{slice.operation->channel, slice.operation->link} : TrackKey{};
}

std::string name_of(const TrackKey& key) {
  return key.channel < 0 ? "training thread" : fmt::format("communicator {} ({})", key.channel, key.link);
}

double microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

// What one track did was done one after the other. An operation whose end was noticed late (a GPU's) seems to
// reach into the next: it ended when that one began, at the latest, and took as long as it took.
void separate(std::vector<TraceSlice>& track) {
  std::stable_sort(track.begin(), track.end(), [](const TraceSlice& one, const TraceSlice& other) {
    return std::pair(one.end_ns, one.begin_ns) < std::pair(other.end_ns, other.begin_ns);
  });
  std::int64_t next_begin = std::numeric_limits<std::int64_t>::max();
  for (auto slice = track.rbegin(); slice != track.rend(); ++slice) {
    const std::int64_t late = std::max<std::int64_t>(0, slice->end_ns - next_begin);
    slice->begin_ns -= late;
    slice->end_ns -= late;
    next_begin = slice->begin_ns;
  }
}

Tracks tracks_of(TraceFragment fragment) {
  Tracks tracks;
  for (TraceSlice& slice : fragment.slices) {
    slice.begin_ns += fragment.header.clock_offset_ns;
    slice.end_ns += fragment.header.clock_offset_ns;
    const TrackKey key = track_of(slice);
    tracks[key].push_back(std::move(slice));
  }
  for (auto& [key, track] : tracks) separate(track);
  return tracks;
}

json arguments_of(const TraceSlice& slice) {
  json arguments = json::object();
  if (!slice.purpose.empty()) arguments["purpose"] = slice.purpose;
  if (!slice.operation) return arguments;
  const TraceOperation& operation = *slice.operation;
  arguments["Collective name"] = slice.name;
  arguments["In msg nelems"] = operation.input_elements;
  arguments["Out msg nelems"] = operation.output_elements;
  arguments["dtype"] = kineto_type(operation.element_type);
  arguments["Group size"] = operation.ranks;
  arguments["Process Group Name"] = std::to_string(operation.channel);
  arguments["link"] = operation.link;
  arguments["payload_bytes"] = operation.payload_bytes;
  arguments["wire_bytes"] = operation.wire_bytes;
  arguments["peer_wait_us"] = microseconds(operation.peer_wait_ns);
  return arguments;
}

// Writes the list of events, one a line.
class EventWriter {
 public:
  EventWriter(std::ostream& out, std::int64_t origin_ns) : out_(out), origin_ns_(origin_ns) {}

  void write_rank(const TraceHeader& header, const Tracks& tracks) {
    const int rank = header.rank;
    metadata(rank, 0, "process_name", {{"name", fmt::format("rank {}", rank)}});
    metadata(rank, 0, "process_labels", {{"labels", header.host}});
    metadata(rank, 0, "process_sort_index", {{"sort_index", rank}});
    int track_number = 0;
    for (const auto& [key, track] : tracks)
      write_track(rank, key.channel < 0 ? 0 : ++track_number, key, track);
  }

 private:
  void write_track(int rank, int number, const TrackKey& key, const std::vector<TraceSlice>& track) {
    metadata(rank, number, "thread_name", {{"name", name_of(key)}});
    metadata(rank, number, "thread_sort_index", {{"sort_index", number}});
    for (const TraceSlice& slice : track)
      write({{"ph", "X"},
             {"cat", slice.operation ? "collective" : "span"},
             {"name", slice.name},
             {"pid", rank},
             {"tid", number},
             {"ts", microseconds(slice.begin_ns - origin_ns_)},
             {"dur", microseconds(slice.end_ns - slice.begin_ns)},
             {"args", arguments_of(slice)}});
  }
  void metadata(int rank, int track, const char* name, const json& arguments) {
    write({{"ph", "M"}, {"name", name}, {"pid", rank}, {"tid", track}, {"args", arguments}});
  }
  void write(const json& event) {
    out_ << (first_ ? "\n" : ",\n") << base::json_text(event);
    first_ = false;
  }

  std::ostream& out_;
  std::int64_t origin_ns_;
  bool first_ = true;
};

struct Rank {
  TraceHeader header;
  Tracks tracks;
};

std::vector<Rank> read_ranks(std::span<const std::filesystem::path> fragments) {
  std::vector<Rank> ranks;
  std::set<int> seen;
  for (const std::filesystem::path& path : fragments) {
    TraceFragment fragment = read_fragment(path);
    if (!seen.insert(fragment.header.rank).second)
      throw base::StoreError(fmt::format("the trace fragment {} is of rank {}, as another one is",
                                         path.string(), fragment.header.rank));
    TraceHeader header = fragment.header;
    ranks.push_back({std::move(header), tracks_of(std::move(fragment))});
  }
  return ranks;
}

std::int64_t earliest(const std::vector<Rank>& ranks) {
  std::int64_t earliest_ns = std::numeric_limits<std::int64_t>::max();
  for (const Rank& rank : ranks)
    for (const auto& [key, track] : rank.tracks) earliest_ns = std::min(earliest_ns, track.front().begin_ns);
  return earliest_ns;
}

TraceSummary summary_of(const std::vector<Rank>& ranks) {
  TraceSummary summary;
  for (const Rank& rank : ranks) {
    summary.slices += rank.header.slices;
    summary.dropped += rank.header.dropped;
  }
  return summary;
}

}  // namespace

TraceSummary write_trace(const std::filesystem::path& path,
                         std::span<const std::filesystem::path> fragments) {
  const std::vector<Rank> ranks = read_ranks(fragments);
  const TraceSummary summary = summary_of(ranks);
  const std::int64_t origin_ns = earliest(ranks);
  const json other = {
      {"ranks", ranks.size()}, {"slices", summary.slices}, {"dropped_slices", summary.dropped}};
  write_whole_file(path, [&](std::ostream& out) {
    out << R"({"displayTimeUnit":"ms","otherData":)" << base::json_text(other) << R"(,"traceEvents":[)";
    EventWriter writer(out, origin_ns);
    for (const Rank& rank : ranks) writer.write_rank(rank.header, rank.tracks);
    out << "\n]}\n";
  });
  return summary;
}

}  // namespace lockstep::measure
