#include "lockstep/launch/mpirun_children.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::launch {
namespace {

namespace fs = std::filesystem;

// Each thread has the children that it made.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const fs::directory_entry& thread :
       fs::directory_iterator("/proc/" + std::to_string(parent) + "/task", ignored)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

// mpirun gives a rank its number with its environment, which a child has from the moment it is another
// program.
std::optional<int> rank_of(pid_t child) {
  constexpr std::string_view kName = "OMPI_COMM_WORLD_RANK=";
  std::ifstream file("/proc/" + std::to_string(child) + "/environ");
  for (std::string variable; std::getline(file, variable, '\0');) {
    if (!variable.starts_with(kName)) continue;
    int rank = 0;
    const char* end = variable.data() + variable.size();
    const auto read = std::from_chars(variable.data() + kName.size(), end, rank);
    return read.ec == std::errc() && read.ptr == end ? std::optional(rank) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::map<int, pid_t> children_by_rank(pid_t mpirun) {
  std::map<int, pid_t> ranks;
  for (const pid_t child : children_of(mpirun))
    if (const std::optional<int> rank = rank_of(child)) ranks.emplace(*rank, child);
  return ranks;
}

}  // namespace lockstep::launch
