// What the tests of backends on CUDA devices share: the backend as a program finds it, and a skip with the
// reason where there is no GPU. Each test program has one backend under test and names it.
#pragma once

#include <memory>
#include <string>

#include "tests/support/ranks.h"

namespace lockstep::testing {

// The backend that this program tests; defined by the program.
extern const char* const kTestedBackend;

// Why it cannot be used here; nothing when it can. Asked in a process of its own, since ranks are forked and
// a process that has started CUDA cannot fork ranks that use it.
std::string why_not_usable();

std::unique_ptr<comm::Communicator> open_device(Rank& self,
                                                base::Nanoseconds timeout = std::chrono::seconds(60));

}  // namespace lockstep::testing

// Skips the test with the reason where the backend cannot be used.
#define LOCKSTEP_NEED_DEVICE()                                                                \
  do {                                                                                        \
    if (const std::string why = ::lockstep::testing::why_not_usable(); !why.empty()) {        \
      GTEST_SKIP() << ::lockstep::testing::kTestedBackend << " cannot be used here: " << why; \
    }                                                                                         \
  } while (false)
