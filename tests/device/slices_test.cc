#include "lockstep/device/slices.h"

#include <gtest/gtest.h>

namespace lockstep::device {
namespace {

using Variables = std::map<std::string, std::string>;

TEST(Slices, have_a_share_in_percent) {
  EXPECT_EQ(slice_environment({0.125, {}, 1}), (Variables{{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "12.5"}}));
}

TEST(Slices, have_a_limit_of_memory_on_every_gpu_that_a_worker_may_get) {
  const Variables variables = slice_environment({0.5, std::uint64_t{16} << 30, 2});
  EXPECT_EQ(variables.at("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"), "0=16384M,1=16384M");
  // Zero would mean no limit.
  EXPECT_EQ(slice_environment({0.5, 1000, 1}).at("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"), "0=1M");
}

TEST(Slices, are_made_smaller_where_products_of_16_bits_would_be_wrong) {
  constexpr int kH200 = 132;
  EXPECT_EQ(size_for_16_bits(0.125, kH200).fitting, 16);
  EXPECT_EQ(size_for_16_bits(0.139, kH200).given, 18);
  EXPECT_EQ(size_for_16_bits(0.139, kH200).fitting, 16);
  EXPECT_EQ(size_for_16_bits(0.01, kH200).given, 8);
  EXPECT_EQ(size_for_16_bits(0.25, kH200).fitting, 32);
  EXPECT_EQ(size_for_16_bits(0.409, kH200).given, 52);
  EXPECT_EQ(size_for_16_bits(0.409, kH200).fitting, 34);
  EXPECT_EQ(size_for_16_bits(0.5, kH200).fitting, 66);
  EXPECT_EQ(size_for_16_bits(0.8, kH200).fitting, 66);
  EXPECT_EQ(size_for_16_bits(1, kH200).fitting, 132);
}

TEST(Slices, that_are_made_smaller_get_the_multiprocessors_meant) {
  for (double share = 0.02; share < 1; share += 0.003) {
    const SliceSize size = size_for_16_bits(share, 132);
    EXPECT_EQ(size_for_16_bits(size.fitting_percent / 100, 132).given, size.fitting) << share;
    EXPECT_LE(size.fitting, size.given);
  }
}

TEST(Slices, meet_in_directories_of_their_run) {
  const Variables variables = service_environment("/run/of/mine");
  EXPECT_EQ(variables.at("CUDA_MPS_PIPE_DIRECTORY"), "/run/of/mine/pipe");
  EXPECT_EQ(variables.at("CUDA_MPS_LOG_DIRECTORY"), "/run/of/mine/log");
}

}  // namespace
}  // namespace lockstep::device
