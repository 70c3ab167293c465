// When steps are repeated by the device, and when they are not.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "lockstep/train/repeated_step.h"

namespace lockstep::train {
namespace {

using testing::HasSubstr;

record::RunSpec recordable() {
  record::RunSpec spec;
  spec.strategy = "single";
  spec.device = "cuda";
  return spec;
}

TEST(WhyNotRepeated, NamesWhatCannotBeRecorded) {
  EXPECT_FALSE(why_not_repeated(recordable()));
  record::RunSpec clipped = recordable();
  clipped.clip_norm = 1.0;
  EXPECT_THAT(*why_not_repeated(clipped), HasSubstr("clip_norm"));
  record::RunSpec from_file = recordable();
  from_file.model = "mine.pt";
  EXPECT_THAT(*why_not_repeated(from_file), HasSubstr("file"));
  record::RunSpec sharded = recordable();
  sharded.strategy = "zero3";
  EXPECT_THAT(*why_not_repeated(sharded), HasSubstr("zero3"));
  record::RunSpec ddp = recordable();
  ddp.strategy = "ddp";
  ddp.backend = "nccl";
  EXPECT_FALSE(why_not_repeated(ddp));
  ddp.backend = "shm";
  EXPECT_THAT(*why_not_repeated(ddp), HasSubstr("backend shm"));
  ddp.backend = "nccl";
  ddp.buffers = "sync";
  EXPECT_THAT(*why_not_repeated(ddp), HasSubstr("synchronised"));
}

TEST(RepeatedStep, IsAnOrdinaryStepOnCores) {
  const auto compute = parallel::host_compute_queue();
  const auto timer = measure::bare_step_timer();
  std::vector<std::string> warnings;
  record::RunSpec spec = recordable();
  RepeatedStep step(spec, *compute, *timer, [&](const std::string& text) { warnings.push_back(text); });
  int calls = 0;
  for (int i = 0; i < 6; ++i) step.run({8, 8}, [&] { return ++calls, at::zeros({}); });
  EXPECT_EQ(calls, 6);
  EXPECT_TRUE(warnings.empty());
}

TEST(RepeatedStep, SaysWhyItIsNotWhatWasAskedFor) {
  const auto compute = parallel::host_compute_queue();
  const auto timer = measure::bare_step_timer();
  std::vector<std::string> warnings;
  record::RunSpec spec = recordable();
  spec.graph = "on";
  spec.clip_norm = 1.0;
  const RepeatedStep step(spec, *compute, *timer, [&](const std::string& text) { warnings.push_back(text); });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings.front(), HasSubstr("clip_norm"));
}

}  // namespace
}  // namespace lockstep::train
