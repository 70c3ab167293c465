// One trial of `lockstep fit`: a short run of `lockstep train` under the cap, as a process of its own.
#pragma once

#include <filesystem>

#include "lockstep/cli/fit/answer.h"
#include "lockstep/cli/fit/batch_search.h"
#include "lockstep/cli/fit/fit_options.h"
#include "lockstep/launch/signals.h"

namespace lockstep::cli {

// Runs go to `store`. A run that ends out of memory does not fit; any other failure, and one that takes
// longer than the limit, throws an error that says which trial it was.
BatchTrial try_batch(const FitOptions& options, const Answer& answer, std::int64_t batch,
                     const std::filesystem::path& store, const launch::SignalWatch& signals);

}  // namespace lockstep::cli
