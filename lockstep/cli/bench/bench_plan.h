// The plan of a bench: which cells are measured, in which order. Pure: no clock, no communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/comm/buffer.h"
#include "lockstep/comm/operation.h"

namespace lockstep::cli {

// One line of the table, for every lane alike.
struct Cell {
  measure::Collective collective = measure::Collective::barrier;
  comm::ElementType type = comm::ElementType::f32;
  comm::ReduceOp op = comm::ReduceOp::sum;
  int root = 0;
  std::size_t count = 0;  // elements of the payload: of the whole tensor, counted once

  std::uint64_t bytes() const { return count * comm::bytes_of(type); }
};

bool reduces(measure::Collective collective);
bool has_root(measure::Collective collective);
// Collectives in which every rank holds one part of the tensor: there the count is a multiple of the world.
bool has_parts(measure::Collective collective);

// Payload sizes from the smallest to the largest, by factor or step; always at least one.
std::vector<std::uint64_t> payload_sizes(const BenchOptions& options);

// All cells, collective by collective, type by type, reduction by reduction, sizes rising. A size is rounded
// down to whole elements (times the world where there are parts), but not to nothing unless nothing was asked
// for.
std::vector<Cell> plan_cells(const BenchOptions& options, int world);

// Throws ConfigError for cells that this world cannot run (a root that is not there, send with one rank).
void check_world(const BenchOptions& options, int world);

// The memory kinds to measure on a backend that allocates in `place`: private memory only where its own is no
// different, owned memory only where private memory cannot be used.
std::vector<BufferChoice> buffer_kinds(BufferChoice choice, comm::Place place, bool any_all_reduce);

// How many operations a sample times and how many samples are taken, for lanes that need `seconds` per
// operation.
struct Effort {
  int batch = 1;    // operations per sample, so that reading the clock does not show
  int samples = 5;  // per lane
};
Effort plan_effort(const std::vector<double>& lane_seconds, int iterations);

}  // namespace lockstep::cli
