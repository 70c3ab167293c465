#include "lockstep/launch/slice_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/device/slices.h"

namespace lockstep::launch {
namespace {

using ::testing::HasSubstr;

TEST(SliceService, says_what_is_missing_where_there_is_none) {
  if (!device::service_program().empty()) GTEST_SKIP() << "this machine has the service's program";
  try {
    const SliceService service;
    FAIL() << "it was started";
  } catch (const base::DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nvidia-cuda-mps-control is not installed"));
    EXPECT_THAT(error.what(), HasSubstr("leave slice_share out"));
  }
}

}  // namespace
}  // namespace lockstep::launch
