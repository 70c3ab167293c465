// Runs `lockstep train` with its real workers and reads what it left in the store.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lockstep/record/event.h"

namespace lockstep::testing {

struct TrainRun {
  int exit_code = -1;
  std::string err;
  nlohmann::json record;            // of --json; null when it printed none
  std::filesystem::path directory;  // of the run; empty when none was made

  // The losses of all steps, as rank 0 has them.
  std::vector<double> losses() const;
  std::vector<record::Event> events(int rank) const;
  // Sums of the ledger's lines with that purpose (and collective, unless empty), over all ranks.
  std::uint64_t payload_bytes(const std::string& purpose, const std::string& collective = "") const;
  std::uint64_t wire_bytes(const std::string& purpose, const std::string& collective = "") const;
};

// A store of its own, removed with everything in it.
class TrainStore {
 public:
  TrainStore();
  ~TrainStore();
  TrainStore(const TrainStore&) = delete;
  TrainStore& operator=(const TrainStore&) = delete;

  // `lockstep train ARGUMENTS --json`, with `environment` ("NAME=value ...") in front.
  TrainRun train(const std::string& arguments, int limit_seconds = 120,
                 const std::string& environment = "") const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The largest difference between two curves; fails the test when their lengths differ.
double largest_difference(const std::vector<double>& left, const std::vector<double>& right);

}  // namespace lockstep::testing
