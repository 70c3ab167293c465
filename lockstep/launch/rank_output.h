// The rank's side of being started through mpirun. mpirun mixes its ranks' output and hides how they end, so
// the launcher gives every rank named pipes of its own in a private directory, and a pipe for word of its
// start and end.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::launch {

inline constexpr const char* kRankOutputVariable = "LOCKSTEP_RANK_OUTPUT";  // the private directory
inline constexpr const char* kRankCpusVariable = "LOCKSTEP_RANK_CPUS";      // see encode_rank_cpus
inline constexpr const char* kLauncherPidVariable = "LOCKSTEP_LAUNCHER_PID";

// The first thing in the main of a program that can be a rank. Does nothing unless LOCKSTEP_RANK_OUTPUT is
// set. Then standard output and error become the rank's own, the process is pinned to its cores, dies with
// mpirun, and the launcher is told its process number and, when it leaves through exit() or main's return,
// its exit code.
void adopt_rank_output();

// Ends this process at once, without tidying up; the launcher is told the exit code all the same.
[[noreturn]] void leave_rank(int code);

// Names within the private directory.
std::filesystem::path output_pipe(const std::filesystem::path& directory, int rank);
std::filesystem::path error_pipe(const std::filesystem::path& directory, int rank);
std::filesystem::path word_pipe(const std::filesystem::path& directory);

// Word from a rank, one line: "start RANK PID" or "exit RANK CODE".
struct RankWord {
  enum class Kind { start, exit };
  Kind kind = Kind::start;
  int rank = 0;
  int number = 0;  // the process's, or the exit code
};
std::string encode(const RankWord& word);  // with the line's end
std::optional<RankWord> decode_rank_word(std::string_view line);

}  // namespace lockstep::launch
