// The end of a bench: prints what was found and says whether it is good enough.
#pragma once

#include <filesystem>
#include <string>

#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/cli/bench/bench_result.h"
#include "lockstep/cli/console.h"

namespace lockstep::cli {

// Throws StoreError when --json-file names a place where no file can be written; for before the bench.
void require_place_for(const std::filesystem::path& json_file);

// Adds the version and who said which rank is which, writes the file that was asked for and prints a
// table or JSON; a reader that has gone away ends only that. Then throws VerificationError,
// ThresholdError or ReaderGone if there is reason to.
void conclude_bench(const BenchOptions& options, BenchReport report, const std::string& rank_source,
                    const Console& console);

}  // namespace lockstep::cli
