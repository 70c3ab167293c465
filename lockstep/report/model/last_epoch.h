// Which epoch's figures stand for a cell's quality: the last finished one that has them, else the one inside
// which a limit stopped the run (record::last_figure), and how that is said.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lockstep/report/model/grid.h"

namespace lockstep::report {

using EpochValue = std::optional<double> record::EpochFigures::*;

// "train_loss", "val_accuracy", ...; null where there is no such figure of an epoch.
EpochValue epoch_value(std::string_view figure);
// The epoch that a run's figure is of; null where none has it.
const record::EpochFigures* epoch_behind(const record::RunRecord& run, EpochValue value);
// Its number, over the cell's runs.
std::optional<Number> epoch_of(const GridCell& cell, std::string_view figure);
// "epochs[2].train_loss": where the record of the cell's first run holds it.
std::string epoch_field(const GridCell& cell, std::string_view figure);

bool has_finished_epoch(const GridCell& cell);
// Whether the run went on from a checkpoint: epochs before it are of another record, and of its first one it
// may have done a part.
bool was_resumed(const record::RunRecord& run);
// "stopped inside epoch 3: quality is of epoch 2"; empty where every run ended with an epoch.
std::string stopped_text(const GridCell& cell);
// After the name of a figure that cells are compared by: " (of unfinished epochs)" where all of it is,
// " (after 1 to 3 epochs)", " (after a part of an epoch to 2 epochs)"; empty where all of it was taken at the
// end of one and the same epoch. Cells may be null.
std::string epochs_note(std::span<const GridCell* const> cells, std::string_view figure);
// Whether it was taken after different numbers of epochs: then which cell is better says little.
bool ended_apart(std::span<const GridCell* const> cells, std::string_view figure);

}  // namespace lockstep::report
