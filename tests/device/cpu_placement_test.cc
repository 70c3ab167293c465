// How cores are dealt out to workers.
#include "lockstep/device/cpu_placement.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

namespace lockstep::device {
namespace {

// `count` cores of two hardware threads each, numbered as Linux does: core i has i and i + count.
CpuTopology cores_with_two_threads(int count) {
  CpuTopology topology;
  for (int core = 0; core < count; ++core) topology.cores.push_back({{core, core + count}, core * 2 / count});
  return topology;
}

TEST(CpuPlacement, gives_workers_disjoint_sets_that_cover_all_cores) {
  for (int cores = 1; cores <= 17; ++cores) {
    for (int workers = 1; workers <= cores; ++workers) {
      const CpuPlacement placement = place_workers(cores_with_two_threads(cores), workers, {});
      std::set<int> seen;
      for (const WorkerCpus& worker : placement.workers)
        for (const int cpu : worker.cpus) EXPECT_TRUE(seen.insert(cpu).second) << cores << " by " << workers;
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(2 * cores));
      EXPECT_FALSE(placement.oversubscribed);
    }
  }
}

TEST(CpuPlacement, shares_differ_by_at_most_one_core) {
  const CpuPlacement placement = place_workers(cores_with_two_threads(7), 3, {});
  int fewest = 7, most = 0;
  for (const WorkerCpus& worker : placement.workers) {
    fewest = std::min(fewest, worker.cores);
    most = std::max(most, worker.cores);
  }
  EXPECT_EQ(fewest, 2);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(placement.threads_per_worker, 2);
}

TEST(CpuPlacement, gives_whole_cores_that_are_neighbours) {
  const CpuPlacement placement = place_workers(cores_with_two_threads(4), 2, {});
  EXPECT_EQ(placement.workers[0].cpus, (std::vector<int>{0, 1, 4, 5}));
  EXPECT_EQ(placement.workers[1].cpus, (std::vector<int>{2, 3, 6, 7}));
}

TEST(CpuPlacement, more_workers_than_cores_share_evenly_and_say_so) {
  const CpuPlacement placement = place_workers(cores_with_two_threads(2), 5, {});
  EXPECT_TRUE(placement.oversubscribed);
  EXPECT_EQ(placement.threads_per_worker, 1);
  std::array<int, 2> users{};
  for (const WorkerCpus& worker : placement.workers) {
    EXPECT_EQ(worker.cores, 1);
    ++users[worker.cpus.front()];
  }
  EXPECT_LE(std::abs(users[0] - users[1]), 1);
}

TEST(CpuPlacement, a_quota_limits_the_threads_not_the_cores) {
  const CpuPlacement placement = place_workers(cores_with_two_threads(16), 2, 5.0);
  EXPECT_EQ(placement.workers[0].cores, 8);
  EXPECT_EQ(placement.threads_per_worker, 2);
  EXPECT_EQ(place_workers(cores_with_two_threads(16), 4, 1.5).threads_per_worker, 1);
}

bool sees_only(int cpu) {
  const CpuTopology topology = usable_topology();
  return topology.cores.size() == 1 && topology.cores.front().cpus == std::vector<int>{cpu};
}

// In a process that starts under the mask: the threads of this one, a sanitizer's own among them, have theirs
// already.
TEST(CpuTopologyOfThisMachineDeathTest, stays_within_the_affinity_mask) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int first = usable_topology().cores.front().cpus.front();
  cpu_set_t only_first;
  CPU_ZERO(&only_first);
  CPU_SET(first, &only_first);
  ASSERT_EQ(sched_setaffinity(0, sizeof only_first, &only_first), 0);
  EXPECT_EXIT(std::_Exit(sees_only(first) ? 0 : 1), ::testing::ExitedWithCode(0), "");
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace lockstep::device
