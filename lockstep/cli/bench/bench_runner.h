// Measures the cells of a bench as one rank among others. Backends take turns within every sample, so that
// what disturbs the machine disturbs all of them alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/cli/bench/agreement.h"
#include "lockstep/cli/bench/bench_lane.h"
#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/cli/bench/bench_result.h"
#include "lockstep/cli/bench/copy_bandwidth.h"
#include "lockstep/cli/progress.h"

namespace lockstep::cli {

// A backend to measure: its communicator and what is known about it.
struct OpenBackend {
  std::string name;
  std::string detail;
  std::string algorithm = "auto";
  std::shared_ptr<comm::Communicator> communicator;
};

class BenchRunner {
 public:
  // Collective: allocates the lanes' memory. `progress` may be null, and outlives this otherwise.
  BenchRunner(const BenchOptions& options, std::vector<OpenBackend> backends, Progress* progress);

  // Collective: measures every cell. All ranks return the same lanes, cells and times.
  BenchReport run();

 private:
  void add_lanes(std::size_t backend);
  const LaneMemory& private_memory();
  std::vector<CellResult> measure(const Cell& cell);
  std::vector<double> warm_up(const Cell& cell);
  double time_batch(Lane& lane, const Cell& cell, int batch);
  std::uint64_t check(Lane& lane, const Cell& cell);
  void sample_copy(int times);

  BenchOptions options_;
  std::vector<OpenBackend> backends_;
  Progress* progress_;
  std::vector<Cell> cells_;
  std::vector<std::unique_ptr<LaneMemory>> memories_;
  const LaneMemory* private_memory_ = nullptr;
  std::vector<Lane> lanes_;
  std::vector<LaneFacts> facts_;
  std::unique_ptr<Agreement> agreement_;
  CopyBandwidth copy_;
  std::vector<double> copy_seconds_;
};

}  // namespace lockstep::cli
