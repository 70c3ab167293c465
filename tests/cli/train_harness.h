// Runs `lockstep train` with a stand-in worker and a store of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program_run.h"

namespace lockstep::testing {

class TrainTest : public ::testing::Test {
 protected:
  TrainTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-train-XXXXXX").string();
    store = ::mkdtemp(pattern.data());
  }
  ~TrainTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(store, ignored);
  }

  // What stands before a command line of ours: the store, the worker, and how it behaves.
  std::string setting(const std::string& behaviour = "finish") const {
    return "export LOCKSTEP_STORE='" + store.string() +
           "' LOCKSTEP_WORKER='" LOCKSTEP_STAND_IN_WORKER "' STAND_IN=" + behaviour + "\n";
  }
  ProgramRun train(const std::string& arguments, const std::string& behaviour = "finish") const {
    return run_shell(setting(behaviour) + program() + " train --data digits " + arguments);
  }
  // The directories of the runs that the store holds.
  std::vector<std::filesystem::path> runs() const {
    std::vector<std::filesystem::path> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(store / "runs", ignored))
      found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
  // The record that the only run left.
  nlohmann::json kept_record() const {
    const ProgramRun shown = run_shell("cat '" + runs().at(0).string() + "/record.json'");
    return nlohmann::json::parse(shown.out);
  }

  std::filesystem::path store;
};

}  // namespace lockstep::testing
