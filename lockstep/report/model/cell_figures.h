// Figures of cells that run_figures.h does not hold, because they need a name besides: a span, a purpose.
#pragma once

#include "lockstep/report/model/grid.h"
#include "lockstep/report/model/spans.h"

namespace lockstep::report {

std::optional<Number> span_seconds(const GridCell& cell, const Span& span);
// Of the whole run, all ranks; nothing where no row of the ledger has the purpose.
std::optional<Number> payload_of(const GridCell& cell, std::string_view purpose);
std::optional<Number> wire_of(const GridCell& cell, std::string_view purpose);
bool wire_is_estimated(const GridCell& cell, std::string_view purpose);
std::optional<Number> memory_use(const GridCell& cell, std::string_view use);
std::optional<Number> memory_cap(const GridCell& cell);
// Optimiser steps of one epoch.
std::optional<Number> steps_per_epoch(const GridCell& cell);
// Gradient payload of one step, and the time its collectives took without waiting for peers.
std::optional<Number> gradient_bytes_per_step(const GridCell& cell);
std::optional<Number> transfer_seconds(const GridCell& cell);
std::optional<Number> link_peak(const GridCell& cell);

}  // namespace lockstep::report
