// Reading the limits of control groups, from trees laid out as the kernel does.
#include "lockstep/device/cgroup_limits.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace lockstep::device {
namespace {

namespace fs = std::filesystem;

class CgroupLimitsTest : public testing::Test {
 protected:
  CgroupLimitsTest() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-cgroup-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~CgroupLimitsTest() override { fs::remove_all(directory_); }

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((directory_ / file).parent_path());
    std::ofstream(directory_ / file) << text << "\n";
  }
  CgroupLimits limits() { return cgroup_limits({directory_ / "membership", directory_ / "root"}); }

 private:
  fs::path directory_;
};

TEST_F(CgroupLimitsTest, reads_version_2_and_takes_the_tightest_of_the_ancestors) {
  write("membership", "0::/outer/inner");
  write("root/outer/cpu.max", "150000 100000");
  write("root/outer/inner/cpu.max", "max 100000");
  write("root/outer/memory.max", "8000000");
  write("root/outer/inner/memory.max", "4000000");
  EXPECT_EQ(limits().cpu_quota, 1.5);
  EXPECT_EQ(limits().memory_bytes, 4000000U);
}

TEST_F(CgroupLimitsTest, reads_version_1) {
  write("membership", "4:memory:/a\n1:cpu,cpuacct:/b");
  write("root/memory/a/memory.limit_in_bytes", "1048576");
  write("root/memory/memory.limit_in_bytes", "9223372036854771712");
  write("root/cpu/b/cpu.cfs_quota_us", "250000");
  write("root/cpu/b/cpu.cfs_period_us", "100000");
  EXPECT_EQ(limits().cpu_quota, 2.5);
  EXPECT_EQ(limits().memory_bytes, 1048576U);
}

TEST_F(CgroupLimitsTest, unlimited_is_nothing_rather_than_a_number) {
  write("membership", "1:cpu:/b\n0::/");
  write("root/cpu/b/cpu.cfs_quota_us", "-1");
  write("root/cpu/b/cpu.cfs_period_us", "100000");
  write("root/memory.max", "max");
  EXPECT_FALSE(limits().cpu_quota);
  EXPECT_FALSE(limits().memory_bytes);
}

TEST_F(CgroupLimitsTest, a_machine_without_control_groups_has_no_limits) {
  EXPECT_FALSE(limits().cpu_quota);
  EXPECT_FALSE(limits().memory_bytes);
}

}  // namespace
}  // namespace lockstep::device
