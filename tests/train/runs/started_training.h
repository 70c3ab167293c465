// `lockstep train` in the background, for tests that do something to it: its ranks are known by number, and
// how far it has come is read from its events.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tests/cli/started_program.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {

class StartedTraining {
 public:
  // `arguments` are separated by single spaces. Its runs go to `store`.
  StartedTraining(const TrainStore& store, const std::string& arguments, const Environment& extra = {});

  // Waits until rank 0 has said that so many steps are done; whether they came.
  bool await_steps(int steps) const;
  // Waits until rank 0 has written so many checkpoints.
  bool await_checkpoints(int count) const;
  int steps_said() const;

  void signal_rank(int rank, int signal) const;
  void signal_launcher(int signal) const;

  // Waits for its end, and ends it where that does not come in time.
  TrainRun wait(base::Nanoseconds limit);
  bool ended_in_time() const { return in_time_; }
  // As its first lines on standard error say; empty while they don't.
  std::filesystem::path directory() const;
  std::string error() const { return program_->error(); }
  // Where its processes live.
  const Habitat& habitat() const { return habitat_; }

 private:
  int count_of_events(const std::string& name) const;

  std::filesystem::path store_;
  Habitat habitat_;
  std::unique_ptr<StartedProgram> program_;
  bool in_time_ = false;
};

// How often the words stand in the text.
int occurrences(const std::string& words, const std::string& text);

}  // namespace lockstep::testing
