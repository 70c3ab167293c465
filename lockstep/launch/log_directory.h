// Where ranks' logs are kept unless the user says otherwise.
#pragma once

#include <cstddef>
#include <filesystem>

namespace lockstep::launch {

// The store: LOCKSTEP_STORE, else $XDG_DATA_HOME/lockstep, else ~/.local/share/lockstep, else a temporary
// directory.
std::filesystem::path default_store();

// <store>/logs/<UTC time>-<process number>. Nothing is created.
std::filesystem::path default_log_directory();

// Of the directories of that name in `logs`, removes all but the newest `kept` and those of runs that still
// run. What cannot be removed stays.
void prune_log_directories(const std::filesystem::path& logs, std::size_t kept);

// Makes a directory that was asked for by name. Throws StoreError when nothing can be written there.
void make_log_directory(const std::filesystem::path& directory);

}  // namespace lockstep::launch
