#include "lockstep/cli/bench/bench_json.h"

#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

Json seconds_json(const CellResult& result) {
  const Summary summary = summary_of(result);
  return {{"median", summary.median}, {"min", summary.min},    {"p99", summary.p99},
          {"cv", summary.cv},         {"batch", result.batch}, {"samples", result.samples}};
}

Json result_json(const BenchReport& report, const CellResult& result) {
  const Cell& cell = result.cell;
  const LaneFacts& lane = report.lanes[result.lane];
  Json json = {{"backend", lane.backend},
               {"collective", measure::name_of(cell.collective)},
               {"workers", report.workers},
               {"dtype", comm::name_of(cell.type)}};
  if (reduces(cell.collective)) json["op"] = comm::name_of(cell.op);
  if (has_root(cell.collective)) json["root"] = cell.root;
  json["bytes"] = cell.bytes();
  json["count"] = cell.count;
  json["buffer"] = name_of(lane.buffer);
  json["algorithm"] = lane.algorithm;
  json["link"] = lane.link;
  json["seconds"] = seconds_json(result);
  json["algbw_bytes_per_second"] = algorithm_bandwidth(result);
  json["busbw_bytes_per_second"] = bus_bandwidth(result, report.workers);
  if (result.wrong) json["wrong"] = *result.wrong;
  return json;
}

// What is not known is left out, never written as zero.
Json machine_json(const BenchReport& report) {
  nlohmann::json plain = report.machine;
  for (const LaneFacts& lane : report.lanes)
    if (!lane.detail.empty()) plain["libraries"][lane.backend] = lane.detail;
  return Json(plain);
}

}  // namespace

Json bench_json(const BenchReport& report) {
  Json results = Json::array();
  for (const CellResult& result : report.results) results.push_back(result_json(report, result));
  return {{"schema", 1},
          {"kind", "bench"},
          {"version", report.version},
          {"machine", machine_json(report)},
          {"workers", report.workers},
          {"rank_source", report.rank_source},
          {"results", results},
          {"memory_copy_bytes_per_second", report.memory_copy_bytes_per_second}};
}

}  // namespace lockstep::cli
