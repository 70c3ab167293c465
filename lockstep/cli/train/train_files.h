// The files that a run reads and writes, looked at before anything starts: what is wrong with one is said
// while nothing has been kept in the store.
#pragma once

#include <string>

#include "lockstep/record/spec.h"

namespace lockstep::cli {

// The data set, the directory named for data sets, the model's file, the initial weights and the checkpoint
// to go on from. Throws DataError or ConfigError. Only the beginnings of files are read: a file that is
// damaged further on is the worker's to find.
void require_inputs(const record::RunSpec& spec);

// A line for people where data_dir is given and does not have the data set, which then comes from elsewhere;
// empty otherwise.
std::string data_place_note(const record::RunSpec& spec);

// Throws StoreError when a file that the run is to write has no place to go to.
void require_outputs(const record::RunSpec& spec);

}  // namespace lockstep::cli
