// `lockstep train` on slices of one GPU, for tests that compare it with cores or do something to it. Every
// test is skipped with the reason where there is no GPU, and fails where its runs have left something behind.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <set>
#include <string>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {

// Each worker has this share of the GPU's multiprocessors.
inline constexpr const char* kSlice = " --device cuda --slice-share 25% --timeout 30s ";

// Processes and directories that runs on slices make; those that are there from the start are somebody
// else's.
class Leftovers {
 public:
  Leftovers() : processes_(processes()), directories_(directories()) {}
  // What has come and does not go within a while; empty when nothing is left.
  std::string await_none() const;

 private:
  static std::set<pid_t> processes();
  static std::set<std::string> directories();
  std::string left() const;

  std::set<pid_t> processes_;
  std::set<std::string> directories_;
};

class GpuRuns : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  TrainStore store_;

 private:
  Leftovers before_;
};

}  // namespace lockstep::testing
