#include "tests/train/runs/train_run.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>

#include "tests/cli/program_run.h"

namespace lockstep::testing {
namespace {

std::uint64_t sum_of(const nlohmann::json& record, const std::string& field, const std::string& purpose,
                     const std::string& collective) {
  std::uint64_t sum = 0;
  for (const nlohmann::json& line : record.at("ledger")) {
    if (line.at("purpose") != purpose || (!collective.empty() && line.at("collective") != collective))
      continue;
    sum += line.value(field, std::uint64_t{0});
  }
  return sum;
}

}  // namespace

std::vector<record::Event> TrainRun::events(int rank) const {
  const std::filesystem::path path = directory / ("rank" + std::to_string(rank) + ".jsonl");
  std::ifstream stream(path);
  return record::read_events(stream, path.string());
}

std::vector<double> TrainRun::losses() const {
  std::vector<double> losses;
  for (const record::Event& event : events(0)) {
    if (const auto* step = std::get_if<record::StepEvent>(&event.body)) losses.push_back(step->loss.value());
  }
  return losses;
}

std::uint64_t TrainRun::payload_bytes(const std::string& purpose, const std::string& collective) const {
  return sum_of(record, "payload_bytes", purpose, collective);
}

std::uint64_t TrainRun::wire_bytes(const std::string& purpose, const std::string& collective) const {
  return sum_of(record, "wire_bytes", purpose, collective);
}

TrainStore::TrainStore() {
  std::string name = (std::filesystem::temp_directory_path() / "lockstep-train-XXXXXX").string();
  path_ = ::mkdtemp(name.data());
}

TrainStore::~TrainStore() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

TrainRun TrainStore::train(const std::string& arguments, int limit_seconds,
                           const std::string& environment) const {
  const ProgramRun run = run_shell(environment + " " + program() + " train " + arguments +
                                       " --json --progress none --store '" + path_.string() + "'",
                                   limit_seconds);
  TrainRun result;
  result.exit_code = run.exit_code;
  result.err = run.err;
  result.record = nlohmann::json::parse(run.out, nullptr, false);
  if (result.record.is_discarded()) result.record = nullptr;
  if (result.record.is_object())
    result.directory = path_ / "runs" / result.record.at("id").get<std::string>();
  return result;
}

double largest_difference(const std::vector<double>& left, const std::vector<double>& right) {
  EXPECT_EQ(left.size(), right.size());
  double largest = 0;
  for (std::size_t step = 0; step < std::min(left.size(), right.size()); ++step)
    largest = std::max(largest, std::abs(left[step] - right[step]));
  return largest;
}

}  // namespace lockstep::testing
