// Whether the buffers of a bench fit into the machine: asked before anything starts, because a machine that
// runs out of memory ends processes instead of reporting an error.
#pragma once

#include <cstdint>

#include "lockstep/cli/bench/bench_options.h"

namespace lockstep::cli {

// The most bytes that the buffers of all workers of one host take together: every lane (a backend's algorithm
// with one kind of buffer) keeps its own.
std::uint64_t needed_bytes(const BenchOptions& options, int workers);

// Throws ConfigError with both figures when they do not fit.
void require_memory(const BenchOptions& options, int workers, std::uint64_t memory_bytes);

}  // namespace lockstep::cli
