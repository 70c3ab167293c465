// Runs a piece of test code as N real processes that find each other through a store in a temporary
// directory.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/rendezvous/store.h"

namespace lockstep::testing {

// A store of files: set() renames a file into place, get() looks until it is there.
class FileStore : public comm::Store {
 public:
  explicit FileStore(std::filesystem::path directory) : directory_(std::move(directory)) {}
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, base::Deadline deadline) override;
  std::int64_t add(const std::string& key, std::int64_t amount) override;

 private:
  std::filesystem::path path_of(const std::string& key) const;
  std::filesystem::path directory_;
};

// What one rank of a test gets.
struct Rank {
  comm::Group group;
  comm::Store& store;
};

// How one rank ended.
struct RankResult {
  int exit_code = 0;    // as from waitpid; 0 is well
  int signal = 0;       // that ended it, or 0
  std::string message;  // of the exception or failed check, if it threw
};

// Forks `world` processes, runs `body` in each and waits, `limit` at most (then the rest is killed and
// reported with signal 9). Nothing threaded may run in the calling process. A body fails by throwing.
std::vector<RankResult> run_ranks(int world, const std::function<void(Rank&)>& body,
                                  base::Nanoseconds limit = std::chrono::seconds(60));

// Runs the ranks and reports every one that did not end well as a test failure.
void expect_ranks_succeed(int world, const std::function<void(Rank&)>& body,
                          base::Nanoseconds limit = std::chrono::seconds(60));

// True when LOCKSTEP_TEST_FULL is set: run the complete matrix.
bool full_matrix();

// Throws with the text when the condition does not hold: the way a rank fails.
void check(bool condition, const std::string& text);

}  // namespace lockstep::testing
