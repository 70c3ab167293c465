// Parts of the record builder that look at all ranks: epochs, ledger, memory, utilisation, outcome.
#pragma once

#include "lockstep/record/record_steps.h"

namespace lockstep::record {

// By epoch; averages over ranks are weighed by their sample counts.
std::vector<EpochFigures> epoch_figures(std::span<const Event> events);
// The last totals of every rank.
std::vector<LedgerLine> ledger_lines(std::span<const Event> events, int world);
// Of the rank with the highest peak.
std::optional<MemoryFigures> worst_memory(std::span<const Event> events, int world);
std::optional<UtilizationFigures> utilization_figures(std::span<const Event> events);
std::vector<RankFigures> rank_figures(std::span<const Event> events, int world);
// Each text once, in order; a rank's number before it when not every rank said it.
std::vector<std::string> warning_texts(std::span<const Event> events, int world);
// The first failure that is not the consequence of another one.
// Of all ranks, or of one.
std::optional<FailureFigures> first_failure(std::span<const Event> events, std::optional<int> rank = {});

}  // namespace lockstep::record
