// What a run's record says, for people: what ran, how well it learnt, and where time, bytes and memory went.
// `lockstep train` and `lockstep runs show` print it.
#pragma once

#include <filesystem>
#include <string>

#include "lockstep/cli/console.h"
#include "lockstep/record/record.h"

namespace lockstep::cli {

struct SummaryOptions {
  std::filesystem::path directory;  // where the run is kept; empty: nowhere
  bool failure_was_said = false;    // standard error has the message already
};

// What the record does not hold is left out.
std::string summary_of(const record::RunRecord& record, const SummaryOptions& options,
                       const Console& console);

// Its parts; empty where the record has nothing to say.
std::string epochs_text(const record::RunRecord& record, const Console& console);
std::string steps_text(const record::RunRecord& record, const Console& console);
std::string communication_text(const record::RunRecord& record, const Console& console);
std::string ledger_text(const record::RunRecord& record, const Console& console);
std::string memory_text(const record::RunRecord& record, const Console& console);

Tone tone_of_status(const std::string& status);

}  // namespace lockstep::cli
