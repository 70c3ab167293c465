// What a bench found: plain data between the runner and the printers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/cli/bench/bench_plan.h"
#include "lockstep/record/machine.h"

namespace lockstep::cli {

// One way of moving bytes: a backend with one kind of memory.
struct LaneFacts {
  std::string backend;
  std::string link;
  std::string detail;  // the backend's version or facts
  std::string algorithm = "auto";
  BufferChoice buffer = BufferChoice::private_;  // owned or private_
  comm::Place place = comm::Place::host;
};

struct CellResult {
  Cell cell;
  std::size_t lane = 0;                // index into BenchReport::lanes
  int batch = 1;                       // operations per sample
  std::vector<double> samples;         // seconds per operation, of the slowest rank
  std::optional<std::uint64_t> wrong;  // elements, over all ranks; none when not checked
};

struct BenchReport {
  std::string version;
  record::Machine machine;
  int workers = 1;
  std::string rank_source;                  // who said which rank this is
  double memory_copy_bytes_per_second = 0;  // of one rank while all copy
  std::vector<LaneFacts> lanes;
  std::vector<CellResult> results;
};

struct Summary {
  double median, min, p99, cv;  // seconds per operation; cv without unit
};
Summary summary_of(const CellResult& result);
// Payload over median time; times the bus factor (measure/collective.h). Bytes per second.
double algorithm_bandwidth(const CellResult& result);
double bus_bandwidth(const CellResult& result, int workers);

std::string name_of(BufferChoice buffer);  // "owned", "private"

// Throws VerificationError when any element was wrong, and ThresholdError naming every lane whose bus
// bandwidth at the largest payload of a collective, type and reduction is below `min_busbw` bytes per second.
void require_right(const BenchReport& report);
void require_fast(const BenchReport& report, double min_busbw);

}  // namespace lockstep::cli
