// Checkpoints that were cut, changed or robbed of a part are refused, and the one before is found.
#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "tests/train/checkpoint_fixture.h"

namespace lockstep::train {
namespace {

using testing::HasSubstr;

class CheckpointDamage : public CheckpointTest {
 protected:
  CheckpointDamage() {
    write(1);
    newest_ = write(2);
  }

  void expect_refused(const std::string& what) {
    ASSERT_TRUE(fault_of(newest_)) << what;
    const FoundCheckpoint found = find_checkpoint(root_);
    ASSERT_EQ(found.step, 1U) << what;
    ASSERT_EQ(found.refused.size(), 1U);
    ASSERT_THAT(found.refused[0], HasSubstr("step-00000002"));
  }

  // Refused with every cut and every changed byte, and whole again after.
  void expect_damage_shows(const fs::path& file) {
    const std::string good = read_file(file);
    for (std::size_t length = 0; length < good.size(); ++length) {
      write_file(file, good.substr(0, length));
      expect_refused("cut at byte " + std::to_string(length));
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
      write_file(file, bad);
      expect_refused("byte " + std::to_string(at) + " changed");
    }
    write_file(file, good + "x");
    expect_refused("one byte more");
    write_file(file, good);
    EXPECT_FALSE(fault_of(newest_));
  }

  fs::path newest_;
};

TEST_F(CheckpointDamage, APartCutOrChangedAtAnyByteIsRefusedAndTheOneBeforeFound) {
  expect_damage_shows(file_of_rank(newest_, 1));
}

TEST_F(CheckpointDamage, AManifestCutOrChangedAtAnyByteIsRefusedAndTheOneBeforeFound) {
  expect_damage_shows(newest_ / "manifest.json");
}

TEST_F(CheckpointDamage, AMissingPartIsNamed) {
  const fs::path file = file_of_rank(newest_, 1);
  fs::remove(file);
  expect_refused("missing part");
  EXPECT_THAT(*fault_of(newest_), HasSubstr(file.filename().string() + " is missing"));
}

TEST_F(CheckpointDamage, AMissingManifestMeansNeverFinished) {
  fs::remove(newest_ / "manifest.json");
  expect_refused("missing manifest");
  EXPECT_THAT(*fault_of(newest_), HasSubstr("never finished"));
}

TEST_F(CheckpointDamage, ACheckpointUnderTheNameOfAnotherStepIsRefused) {
  fs::rename(newest_, path_of(3));
  EXPECT_EQ(find_checkpoint(root_).step, 1U);
}

TEST_F(CheckpointDamage, WithoutAWholeOneTheErrorListsWhatIsWrongWithEach) {
  fs::remove(file_of_rank(path_of(1), 0));
  write_file(newest_ / "manifest.json", "{");
  try {
    find_checkpoint(root_);
    FAIL();
  } catch (const base::DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("step-00000001: rank-00000"));
    EXPECT_THAT(error.what(), HasSubstr("step-00000002: its manifest is damaged"));
  }
}

TEST_F(CheckpointDamage, ReadingADamagedPartIsADataErrorThatNamesTheRank) {
  write_file(file_of_rank(newest_, 1), "short");
  EXPECT_NO_THROW(read_part(newest_, 0));
  try {
    read_part(newest_, 1);
    FAIL();
  } catch (const base::DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_THAT(error.what(), HasSubstr("instead of"));
  }
}

}  // namespace
}  // namespace lockstep::train
