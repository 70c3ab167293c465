// What a run says about itself when it begins.
#pragma once

#include "lockstep/record/event.h"
#include "lockstep/record/spec.h"
#include "lockstep/train/network.h"

namespace lockstep::train {

// Includes a measurement of the device's peak, which takes some milliseconds.
// `gpu`: the device's name; empty for cores.
record::StartedEvent started_event(const record::RunSpec& spec, int classes, const Placement& placement,
                                   const std::string& gpu);

// What this worker's threads can do at most in the type it trains in, in FLOP per second.
double measure_peak_flops(const Placement& placement);

}  // namespace lockstep::train
