// The files that a run reads and writes, looked at before anything starts: what is wrong with one is said
// while nothing has been kept in the store.
#pragma once

#include <filesystem>
#include <string>

#include "lockstep/record/spec.h"

namespace lockstep::cli {

// The data set, the directory named for data sets, the model's file, the initial weights and the checkpoint
// to go on from. Throws DataError or ConfigError. Only the beginnings of files are read: a file that is
// damaged further on is the worker's to find.
void require_inputs(const record::RunSpec& spec);

// Whether there is a finished checkpoint: the place itself, in a directory of them, or in a run's directory.
bool has_checkpoint(const std::filesystem::path& place);

// A line for people where data_dir is given and does not have the data set, which then comes from elsewhere;
// empty otherwise.
std::string data_place_note(const record::RunSpec& spec);

// Throws StoreError when a file that the run is to write has no place to go to, and ConfigError when it would
// be written over another one of the run's, or over the spec it was read from (empty: none).
void require_outputs(const record::RunSpec& spec, const std::string& spec_file);

}  // namespace lockstep::cli
