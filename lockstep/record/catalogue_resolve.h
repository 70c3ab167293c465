// A run as a point in the five dimensions, with every `auto` replaced by what it stands for here.
#pragma once

#include <optional>
#include <string>

#include "lockstep/record/spec.h"

namespace lockstep::record {

// What the choice depends on besides the spec.
struct Surroundings {
  int hosts = 1;
  int gpus = 0;      // that a worker of this run could use
  bool p2p = false;  // whether backend p2p could be used
};

struct Combination {
  std::string engine;
  std::string model;
  std::string data;
  std::string strategy;
  std::string backend;
  std::string device;
  int workers = 1;
  int hosts = 1;
  int gpus = 0;
  std::optional<double> slice_share = {};
};

Combination resolve(const RunSpec& spec, const Surroundings& surroundings);

// How many of the run's processes are on one GPU: 1 on cores, and where nobody knows how many GPUs there are.
int processes_on_a_gpu(const Combination& run);

// How many processes train: strategy dp has its replicas in one.
int processes_of(const RunSpec& spec);

// Batch per worker and global batch of a spec that passed validation. A global batch that the workers do not
// divide evenly gives the larger share as per_worker.
struct BatchSizes {
  std::int64_t per_worker;
  std::int64_t global;
};
BatchSizes batch_sizes(const RunSpec& spec);

}  // namespace lockstep::record
