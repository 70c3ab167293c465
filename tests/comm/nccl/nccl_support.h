// What the tests of nccl share: the backend as a program finds it, and a skip with the reason where there is
// no GPU.
#pragma once

#include <memory>
#include <string>

#include "tests/support/ranks.h"

namespace lockstep::testing {

// Why nccl cannot be used here; nothing when it can. Asked in a process of its own, since ranks are forked
// and a process that has started CUDA cannot fork ranks that use it.
std::string why_no_nccl();

std::unique_ptr<comm::Communicator> open_nccl(Rank& self,
                                              base::Nanoseconds timeout = std::chrono::seconds(60));

}  // namespace lockstep::testing

// Skips the test with the reason where nccl cannot be used.
#define LOCKSTEP_NEED_NCCL()                                                        \
  do {                                                                              \
    if (const std::string why = ::lockstep::testing::why_no_nccl(); !why.empty()) { \
      GTEST_SKIP() << "nccl cannot be used here: " << why;                          \
    }                                                                               \
  } while (false)
