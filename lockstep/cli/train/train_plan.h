// From a requested spec to one that can be started: checked, with every `auto` replaced by what it stands
// for.
#pragma once

#include <optional>
#include <string>

#include "lockstep/comm/rendezvous/identity.h"
#include "lockstep/record/catalogue_entry.h"
#include "lockstep/record/catalogue_resolve.h"
#include "lockstep/record/spec.h"

namespace lockstep::cli {

struct TrainPlan {
  record::RunSpec spec;  // resolved
  record::BatchSizes batch{};
  record::ImageShape input;
  int gpus = 0;   // that this host has for it
  int hosts = 1;  // that its ranks are taken to be on

  int processes() const { return record::processes_of(spec); }
};

// Under another launcher `identity` says how many workers there are. Throws ConfigError for a spec that
// cannot run, DeviceError for a backend or device that is not here.
TrainPlan plan_training(record::RunSpec spec, const std::optional<comm::Identity>& identity);

// Every `auto`, and every default that depends on other fields, written out, so that the stored spec keeps
// its meaning on another machine and in a later version. `overlap` stays: only the engine can tell.
record::RunSpec resolved(record::RunSpec spec, const record::Surroundings& surroundings);

// "lenet5 on fashion-mnist (1x28x28): ddp over shm, 2 workers on cpu, batch 32 per worker, 64 global".
std::string describe(const TrainPlan& plan);

// "ddp over shm, 2 workers on cpu"; strategy single moves nothing.
struct Setup {
  std::string strategy, backend, device;
  std::int64_t workers = 1;
};
std::string text_of(const Setup& setup);

// "1x28x28".
std::string text_of(const record::ImageShape& shape);

}  // namespace lockstep::cli
