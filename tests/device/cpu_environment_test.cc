// Which variables a worker gets from which facts.
#include "lockstep/device/cpu_environment.h"

#include <gtest/gtest.h>

namespace lockstep::device {
namespace {

using Variables = std::map<std::string, std::string>;

TEST(CpuEnvironment, sets_the_thread_count_of_every_library) {
  const Variables variables = cpu_environment({.threads = 3});
  EXPECT_EQ(variables.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(variables.at("MKL_NUM_THREADS"), "3");
  EXPECT_EQ(variables.at("OPENBLAS_NUM_THREADS"), "3");
}

TEST(CpuEnvironment, leaves_all_thread_counts_to_a_user_who_set_omp_num_threads) {
  const Variables variables = cpu_environment({.threads = 3, .user_set = {"OMP_NUM_THREADS"}});
  EXPECT_FALSE(variables.contains("OMP_NUM_THREADS"));
  EXPECT_FALSE(variables.contains("MKL_NUM_THREADS"));
}

TEST(CpuEnvironment, a_flag_wins_over_the_users_variables) {
  const Variables variables =
      cpu_environment({.threads = 3, .threads_were_asked = true, .user_set = {"OMP_NUM_THREADS"}});
  EXPECT_EQ(variables.at("OMP_NUM_THREADS"), "3");
}

TEST(CpuEnvironment, chooses_the_openblas_kernel_from_what_the_processor_has) {
  EXPECT_EQ(cpu_environment({.features = {.avx2 = true, .avx512 = true}}).at("OPENBLAS_CORETYPE"),
            "SkylakeX");
  EXPECT_EQ(cpu_environment({.features = {.avx2 = true}}).at("OPENBLAS_CORETYPE"), "Haswell");
  EXPECT_FALSE(cpu_environment({}).contains("OPENBLAS_CORETYPE"));
}

TEST(CpuEnvironment, never_overrides_what_the_user_set) {
  const Variables variables = cpu_environment(
      {.features = {.avx512 = true, .amx_unusable = true},
       .oversubscribed = true,
       .user_set = {"OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA", "OMP_PROC_BIND", "OMP_WAIT_POLICY"}});
  EXPECT_EQ(variables.size(), 3U) << "only the three thread counts";
}

TEST(CpuEnvironment, restricts_onednn_only_where_amx_is_advertised_and_unusable) {
  EXPECT_EQ(cpu_environment({.features = {.amx_unusable = true}}).at("ONEDNN_MAX_CPU_ISA"),
            "AVX512_CORE_BF16");
  EXPECT_FALSE(cpu_environment({.features = {.avx512 = true}}).contains("ONEDNN_MAX_CPU_ISA"));
}

TEST(CpuEnvironment, threads_that_share_cores_wait_without_spinning) {
  EXPECT_EQ(cpu_environment({.oversubscribed = true}).at("OMP_WAIT_POLICY"), "passive");
  EXPECT_FALSE(cpu_environment({}).contains("OMP_WAIT_POLICY"));
}

TEST(CpuEnvironment, threads_with_cores_of_their_own_spin_for_a_moment_only) {
  EXPECT_EQ(cpu_environment({.threads = 2}).at("GOMP_SPINCOUNT"), "5000");
  EXPECT_FALSE(cpu_environment({.threads = 1}).contains("GOMP_SPINCOUNT"));
  EXPECT_FALSE(cpu_environment({.threads = 2, .oversubscribed = true}).contains("GOMP_SPINCOUNT"));
  EXPECT_FALSE(cpu_environment({.threads = 2, .user_set = {"GOMP_SPINCOUNT"}}).contains("GOMP_SPINCOUNT"));
}

TEST(CpuEnvironment, threads_are_not_bound_one_by_one) {
  EXPECT_EQ(cpu_environment({}).at("OMP_PROC_BIND"), "false");
}

}  // namespace
}  // namespace lockstep::device
