// A store of its own for each test, and events to put into it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "lockstep/lab/run_directory.h"
#include "lockstep/record/event.h"

namespace lockstep::lab {

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-lab-XXXXXX").string();
    store = ::mkdtemp(pattern.data());
  }
  ~StoreTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(store, ignored);
  }

  static void append(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::app) << text;
  }
  static void add(const RunDirectory& run, const record::Event& event) {
    append(run.rank_file(event.rank), record::to_line(event) + "\n");
  }
  // A rank's whole life: a start, `steps` steps, an end.
  static void add_rank(const RunDirectory& run, int rank, int steps) {
    record::StartedEvent started;
    started.version = "0.1.0";
    started.engine = "lockstep";
    started.started_at = "2026-01-02T03:04:05Z";
    started.machine = nlohmann::json{{"host", "h"}, {"cores", 1}, {"libraries", {{"libtorch", "1.13.1"}}}};
    add(run, {rank, 0, started});
    for (int i = 0; i < steps; ++i) {
      record::StepEvent step;
      step.step = i;
      step.seconds = 0.01;
      step.samples = 32;
      add(run, {rank, 0.1 * (i + 1), step});
    }
    add(run, {rank, 100.0, record::FinishedEvent{}});
  }

  std::filesystem::path store;
};

}  // namespace lockstep::lab
