// What fields of a study's specs are set to, by its file or by `--set`. A mistake in the file is one of
// configuration, on the command line it is one of usage.
#pragma once

#include "lockstep/lab/study.h"

namespace lockstep::lab {

// The place of a setting that was given by `--set`: it leads complaints as file and line do.
inline constexpr const char* kSetPlace = "--set: ";

// Sets a field of a spec. Throws ConfigError, or UsageError for what `--set` says.
void set_from(record::RunSpec& spec, const FieldSetting& setting);

// What `--set` says to a whole study: the repeats, the values of an axis, or a field of the base. Throws
// UsageError.
void take_setting(Study& study, const FieldSetting& setting);

}  // namespace lockstep::lab
