// The ways in which ranks of p2p wait for each other, for tests that try each of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "tests/comm/cuda/device_support.h"

namespace lockstep::testing {

inline constexpr const char* kP2pWays[] = {"blocks", "memory"};

struct P2pCase {
  int world;
  std::string waiting;
};
inline std::vector<P2pCase> p2p_cases(std::initializer_list<int> worlds) {
  std::vector<P2pCase> cases;
  for (const int world : worlds)
    for (const char* waiting : kP2pWays) cases.push_back({world, waiting});
  return cases;
}
inline std::string name_of_p2p_case(const ::testing::TestParamInfo<P2pCase>& test) {
  return std::to_string(test.param.world) + test.param.waiting;
}

// In a rank's own process.
inline std::unique_ptr<comm::Communicator> open_waiting(
    Rank& self, const std::string& waiting, base::Nanoseconds timeout = std::chrono::seconds(60)) {
  ::setenv("LOCKSTEP_P2P_WAIT", waiting.c_str(), 1);
  return open_device(self, timeout);
}

}  // namespace lockstep::testing
