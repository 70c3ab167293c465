// Whose cores count where a launcher has bound its ranks.
#include "lockstep/device/cpu_topology.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace lockstep::device {
namespace {

// The whole process: the thread sanitizer has a thread of its own in it.
void bind_to(const Core& core) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : core.cpus) CPU_SET(cpu, &mask);
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    if (::sched_setaffinity(std::stoi(task.path().filename().string()), sizeof mask, &mask) != 0)
      ::_exit(255);
}

// The cores that a rank which this process starts and binds to `core` counts for so many ranks.
int counted_by_bound_rank(const Core& core, int ranks) {
  const pid_t child = ::fork();
  if (child == 0) {
    bind_to(core);
    ::_exit(static_cast<int>(topology_of_ranks(ranks).cores.size()));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(CpuTopologyOfRanks, counts_what_their_launcher_may_use_and_no_more_than_they_were_bound_to) {
  const std::vector<Core> cores = usable_topology().cores;
  const int here = static_cast<int>(std::min<std::size_t>(cores.size(), 100));
  EXPECT_EQ(counted_by_bound_rank(cores.front(), 1), 1);
  EXPECT_EQ(counted_by_bound_rank(cores.back(), 2), std::min(2, here));
  if (here < 100) {
    EXPECT_EQ(counted_by_bound_rank(cores.back(), 100), here);
  }
}

TEST(CpuTopologyOfRanks, is_what_this_process_may_use_where_nobody_bound_it) {
  EXPECT_GE(topology_of_ranks(2).cores.size(), usable_topology().cores.size());
}

}  // namespace
}  // namespace lockstep::device
