// A study with real workers, killed at random moments: the study, a worker, or both. What remains after it
// was resumed equals what an undisturbed study leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "lockstep/lab/conclude.h"
#include "lockstep/lab/run_index.h"
#include "lockstep/lab/run_list.h"
#include "tests/cli/program_run.h"
#include "tests/cli/started_program.h"
#include "tests/support/ranks.h"

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr auto kPatience = std::chrono::minutes(4);

const char* kStudy = R"(name: killed
title: A study to be killed
question: Does anything get lost?
base: {model: lenet5, data: digits, train_samples: 96, val_samples: 32, global_batch: 16, epochs: 2, overlap: "on"}
axes:
  workers: [1, 2]
  learning_rate: [0.01, 0.05]
repeats: 2
)";

enum class Victim { study, worker, both };

class StudyKill : public ::testing::Test {
 protected:
  StudyKill() { std::ofstream(file()) << kStudy; }

  fs::path file() const { return habitat_.path() / "killed.yaml"; }
  fs::path store(const std::string& name) const { return habitat_.path() / name; }
  std::vector<std::string> command(const fs::path& in, const std::string& how) const {
    return {program_path(), "study", file().string(), how, "--progress", "none", "--store", in.string()};
  }
  StartedProgram::Ending run_to_end(const fs::path& in, const std::string& how) {
    StartedProgram program(habitat_, "study", command(in, how));
    const StartedProgram::Ending ending = program.wait(kPatience);
    EXPECT_TRUE(ending.in_time) << program.error();
    return ending;
  }

  // Starts the study and kills its victim after a while; whether there was still somebody to kill.
  bool disturb(const fs::path& in, Victim victim, base::Nanoseconds after) {
    StartedProgram program(habitat_, "study", command(in, "--resume"));
    std::this_thread::sleep_for(after);
    bool met = false;
    if (victim != Victim::study)
      for (const auto& [rank, pid] : ranks_in(habitat_)) {
        met = ::kill(pid, SIGKILL) == 0;
        break;
      }
    if (victim != Victim::worker) met = ::kill(program.pid(), SIGKILL) == 0;
    EXPECT_TRUE(program.wait(kPatience).in_time) << program.error();
    EXPECT_TRUE(comes_true([&] { return ranks_in(habitat_).empty(); }, std::chrono::seconds(60)))
        << "workers outlive their study";
    return met;
  }

  // What must be the same whatever happened on the way: by cell and repeat, so that a run that is there twice
  // or not at all shows.
  static std::map<std::string, Json> remains(const fs::path& store) {
    std::map<std::string, Json> all;
    for (const lab::ListedRun& run : lab::list_runs(store)) {
      if (!run.record) {
        all["without a record: " + run.directory.id()] = true;
        continue;
      }
      const record::RunRecord& record = *run.record;
      Json figures = {
          {"status", record.status}, {"spec_hash", record.spec_hash}, {"steps", record.steps.count}};
      for (const record::EpochFigures& epoch : record.epochs)
        figures["losses"].push_back({*epoch.train_loss, epoch.val_loss.value_or(-1)});
      for (const record::LedgerLine& line : record.ledger)
        if (line.purpose != "control" && line.payload_bytes)
          figures["payload"][line.purpose] =
              *line.payload_bytes + figures["payload"].value(line.purpose, std::uint64_t{0});
      figures["events"] = fs::exists(run.directory.events_file());
      const std::string place = record.cell.value_or("") + "#" + std::to_string(record.repeat.value_or(0));
      all[place + (all.contains(place) ? " again" : "")] = figures;
    }
    return all;
  }

  Habitat habitat_;
};

TEST_F(StudyKill, a_killed_study_that_is_resumed_leaves_what_an_undisturbed_one_leaves) {
  ASSERT_EQ(run_to_end(store("undisturbed"), "--resume").exit_code, 0);
  const auto expected = remains(store("undisturbed"));
  ASSERT_EQ(expected.size(), 8u);

  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> milliseconds(50, 4000);
  const int kills = full_matrix() ? 20 : 3;
  for (int done = 0, tries = 0; done < kills && tries < 4 * kills; ++tries) {
    const auto victim = static_cast<Victim>(done % 3);
    const bool met = disturb(store("killed"), victim, std::chrono::milliseconds(milliseconds(random)));
    if (met) ++done;
    if (done < kills && remains(store("killed")) == expected) {
      ASSERT_EQ(run_to_end(store("killed"), "--fresh").exit_code, 0);
    }
  }
  ASSERT_EQ(run_to_end(store("killed"), "--resume").exit_code, 0);
  EXPECT_EQ(remains(store("killed")), expected);
  const auto indexed = lab::RunIndex::open(store("killed")).runs();
  EXPECT_EQ(indexed.size(), expected.size());
  EXPECT_EQ(lab::RunIndex::rebuild(store("killed")).runs(), indexed);
}

}  // namespace
}  // namespace lockstep::testing
