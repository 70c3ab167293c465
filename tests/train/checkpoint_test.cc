// Checkpoints that are well: written, found, read, pruned.
#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "tests/train/checkpoint_fixture.h"

namespace lockstep::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using CheckpointWhole = CheckpointTest;

TEST_F(CheckpointWhole, GivesBackEveryTensorAndFactBitForBit) {
  const fs::path path = write(7);
  for (const int rank : {0, 1}) {
    const CheckpointPart expected = part(rank, 7), read = read_part(path, rank);
    EXPECT_EQ(read.facts, expected.facts);
    ASSERT_EQ(read.tensors.size(), expected.tensors.size());
    for (std::size_t i = 0; i < read.tensors.size(); ++i) {
      EXPECT_EQ(read.tensors[i].name, expected.tensors[i].name);
      EXPECT_EQ(read.tensors[i].tensor.scalar_type(), expected.tensors[i].tensor.scalar_type());
      EXPECT_TRUE(at::equal(read.tensors[i].tensor, expected.tensors[i].tensor)) << read.tensors[i].name;
    }
  }
}

TEST_F(CheckpointWhole, KeepsTensorsInTheirLogicalOrder) {
  const at::Tensor last =
      at::arange(48).to(at::kFloat).reshape({2, 3, 4, 2}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor strided = at::arange(12).reshape({3, 4}).t();
  write_manifest(root_, 1, {write_part(root_, 1, 0, {{}, {{"last", last}, {"strided", strided}}})});
  const CheckpointPart read = read_part(path_of(1), 0);
  EXPECT_TRUE(at::equal(read.tensors[0].tensor, last));
  EXPECT_TRUE(at::equal(read.tensors[1].tensor, strided));
}

TEST_F(CheckpointWhole, ARankWithoutAPartReadsThatOfRankZero) {
  EXPECT_EQ(read_part(write(7, 1), 3).facts.at("rank"), 0);
}

TEST_F(CheckpointWhole, WithoutTensorsIsACheckpointToo) {
  write_manifest(root_, 1, {write_part(root_, 1, 0, {{{"position", 5}}, {}})});
  EXPECT_EQ(read_part(path_of(1), 0).facts.at("position"), 5);
}

TEST_F(CheckpointWhole, IsFoundInItsRunInItsDirectoryAndByItsOwnName) {
  write(7);
  const fs::path newest = write(12);
  EXPECT_EQ(find_checkpoint(root_).path, newest);
  EXPECT_EQ(find_checkpoint(root_).step, 12U);
  EXPECT_EQ(find_checkpoint(path_of(7)).step, 7U);
  EXPECT_EQ(find_checkpoint(path_of(7) / "").step, 7U);
  fs::create_directory(root_ / "run");
  fs::create_directory(root_ / "run" / "checkpoints");
  fs::rename(newest, root_ / "run" / "checkpoints" / newest.filename());
  EXPECT_EQ(find_checkpoint(root_ / "run").step, 12U);
}

TEST_F(CheckpointWhole, OnlyTheNewestTwoAreKept) {
  for (const std::uint64_t step : {1, 2, 3, 10}) write(step);
  EXPECT_THAT(names_in(root_), ElementsAre("step-00000003", "step-00000010"));
}

TEST_F(CheckpointWhole, TheOneJustWrittenIsKeptEvenIfOthersAreOfLaterSteps) {
  for (const std::uint64_t step : {20, 30, 10}) write(step);
  EXPECT_THAT(names_in(root_), ElementsAre("step-00000010", "step-00000030"));
}

TEST_F(CheckpointWhole, WhatKilledProcessesLeftBehindIsRemoved) {
  write_part(root_, 3, 0, part(0, 3));  // never finished
  write_part(root_, 5, 4, part(4, 5));  // of a larger world that was killed
  write_file(path_of(5) / "rank-00001.part.partial", "cut");
  write(5);
  EXPECT_THAT(names_in(root_), ElementsAre("step-00000005"));
  EXPECT_EQ(names_in(path_of(5)).size(), 3U);  // a manifest and two parts
  EXPECT_FALSE(fault_of(path_of(5)));
}

TEST_F(CheckpointWhole, APartOfALaterStepThatIsBeingWrittenIsLeftAlone) {
  write_part(root_, 9, 1, part(1, 9));
  write(5);
  EXPECT_THAT(names_in(root_), ElementsAre("step-00000005", "step-00000009"));
}

TEST_F(CheckpointWhole, BeingWrittenAgainStaysWholeUntilTheNewOneIs) {
  write(5);
  write_part(root_, 5, 0, part(0, 6));
  EXPECT_FALSE(fault_of(path_of(5)));
  EXPECT_EQ(read_part(path_of(5), 0).facts.at("step"), 5);
}

TEST_F(CheckpointWhole, WhereThereIsNoneTheErrorSaysWhatToGive) {
  try {
    find_checkpoint(root_);
    FAIL();
  } catch (const base::DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no checkpoint"));
  }
  EXPECT_THROW(find_checkpoint(root_ / "absent"), base::DataError);
}

TEST_F(CheckpointWhole, ATypeItCannotKeepIsRefusedByName) {
  const CheckpointPart complex = {{}, {{"phase", at::zeros({2}, at::kComplexFloat)}}};
  EXPECT_THROW(write_part(root_, 1, 0, complex), base::StoreError);
}

}  // namespace
}  // namespace lockstep::train
