#include "tests/train/runs/started_training.h"

#include <signal.h>

#include <fstream>
#include <sstream>

#include "lockstep/base/text.h"

namespace lockstep::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(90);

std::vector<std::string> command_of(const TrainStore& store, const std::string& arguments) {
  std::vector<std::string> command = {program_path(), "train"};
  for (const std::string& word : base::split(arguments, ' ')) {
    if (!word.empty()) command.push_back(word);
  }
  for (const std::string& word : {std::string("--json"), std::string("--progress"), std::string("none"),
                                  std::string("--store"), store.path().string()})
    command.push_back(word);
  return command;
}

}  // namespace

StartedTraining::StartedTraining(const TrainStore& store, const std::string& arguments,
                                 const Environment& extra)
    : store_(store.path()),
      program_(std::make_unique<StartedProgram>(habitat_, "program", command_of(store, arguments), extra)) {}

std::filesystem::path StartedTraining::directory() const {
  std::istringstream lines(program_->error());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("run ")) return store_ / "runs" / line.substr(4);
  }
  return {};
}

int StartedTraining::count_of_events(const std::string& name) const {
  std::ifstream stream(directory() / "rank0.jsonl");
  int count = 0;
  for (std::string line; std::getline(stream, line);)
    count += line.find("\"event\":\"" + name + "\"") != std::string::npos;
  return count;
}

int StartedTraining::steps_said() const {
  return count_of_events("step");
}

bool StartedTraining::await_steps(int steps) const {
  return comes_true([&] { return steps_said() >= steps; }, kPatience);
}

bool StartedTraining::await_checkpoints(int count) const {
  return comes_true([&] { return count_of_events("checkpoint") >= count; }, kPatience);
}

void StartedTraining::signal_rank(int rank, int signal) const {
  kill(ranks_in(habitat_).at(rank), signal);
}

void StartedTraining::signal_launcher(int signal) const {
  kill(program_->pid(), signal);
}

TrainRun StartedTraining::wait(base::Nanoseconds limit) {
  const StartedProgram::Ending ending = program_->wait(limit);
  in_time_ = ending.in_time;
  TrainRun run;
  run.exit_code = ending.exit_code;
  run.err = program_->error();
  run.record = nlohmann::json::parse(program_->output(), nullptr, false);
  if (run.record.is_discarded()) run.record = nullptr;
  run.directory = directory();
  return run;
}

int occurrences(const std::string& words, const std::string& text) {
  int count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

}  // namespace lockstep::testing
