// Where ranks' logs are kept unless the user says otherwise.
#pragma once

#include <filesystem>

namespace lockstep::launch {

// The store: LOCKSTEP_STORE, else $XDG_DATA_HOME/lockstep, else ~/.local/share/lockstep, else a temporary
// directory.
std::filesystem::path default_store();

// <store>/logs/<UTC time>-<process number>. Nothing is created.
std::filesystem::path default_log_directory();

}  // namespace lockstep::launch
