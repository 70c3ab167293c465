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
  RepeatedStep step({spec, *compute, *timer, [&](const std::string& text) { warnings.push_back(text); }});
  int calls = 0;
  for (int i = 0; i < 6; ++i) step.run({8, 8}, [&] { return ++calls, at::zeros({}); });
  EXPECT_EQ(calls, 6);
  EXPECT_TRUE(warnings.empty());
}

// What cores record counts as recorded here, and does nothing.
class RecordingQueue : public parallel::ComputeQueue {
 public:
  struct Nothing : parallel::Repeat {
    void run() override {}
  };
  std::unique_ptr<parallel::Repeat> record(const std::function<void()>& work) override {
    work();
    return std::make_unique<Nothing>();
  }
  void use_here() override {}
  void keep_backward_here() override {}
  comm::Work mark() override { return {}; }
  void wait_for(const comm::Work&) override {}
  void synchronise() override {}
  std::unique_ptr<measure::StepTimer> step_timer(measure::SpanListener*) override {
    return measure::bare_step_timer();
  }
  std::unique_ptr<comm::Communicator> ordered(std::unique_ptr<comm::Communicator> made) override {
    return made;
  }
  std::unique_ptr<comm::Communicator> staged(std::unique_ptr<comm::Communicator> made) override {
    return made;
  }
  std::unique_ptr<comm::shared::Hands> hands() override { return nullptr; }
  std::string gpu() const override { return {}; }
  std::function<std::optional<measure::DeviceReading>()> sensors() override { return {}; }
  void limit_memory(std::uint64_t) override {}
  bool count_memory(std::shared_ptr<measure::MemoryAccount>) override { return false; }
};

struct Together {
  std::vector<bool> said;  // by this worker
  std::vector<std::string> warnings;
  int calls = 0;  // of the work, in ten steps
};

// One of several workers, the others of which answer so.
Together ten_steps(bool may_record, const std::vector<bool>& others) {
  RecordingQueue compute;
  const auto timer = measure::bare_step_timer();
  record::RunSpec spec = recordable();
  spec.strategy = "ddp";
  spec.backend = "p2p";
  Together seen;
  RepeatedStep step({spec, compute, *timer, [&](const std::string& text) { seen.warnings.push_back(text); },
                     may_record,
                     [&](bool yes) {
                       seen.said.push_back(yes);
                       return yes && others.at(seen.said.size() - 1);
                     }});
  for (int i = 0; i < 10; ++i) step.run({8, 16}, [&] { return ++seen.calls, at::zeros({}); });
  return seen;
}

TEST(RepeatedStep, IsRecordedByAllWorkersOrByNone) {
  const Together all = ten_steps(true, {true, true});
  EXPECT_EQ(all.said, (std::vector<bool>{true, true}));
  EXPECT_EQ(all.calls, 4);  // three ordinary ones, and the recording
  EXPECT_TRUE(all.warnings.empty());

  const Together another_may_not = ten_steps(true, {false});
  EXPECT_EQ(another_may_not.calls, 10);
  const Together this_may_not = ten_steps(false, {true});
  EXPECT_EQ(this_may_not.said, std::vector<bool>{false});
  EXPECT_EQ(this_may_not.calls, 10);

  const Together another_could_not = ten_steps(true, {true, false});
  EXPECT_EQ(another_could_not.calls, 11);  // the recording computes nothing: its step is an ordinary one
  ASSERT_EQ(another_could_not.warnings.size(), 1U);
  EXPECT_THAT(another_could_not.warnings.front(), HasSubstr("another worker"));
}

TEST(RepeatedStep, SaysWhyItIsNotWhatWasAskedFor) {
  const auto compute = parallel::host_compute_queue();
  const auto timer = measure::bare_step_timer();
  std::vector<std::string> warnings;
  record::RunSpec spec = recordable();
  spec.graph = "on";
  spec.clip_norm = 1.0;
  const RepeatedStep step(
      {spec, *compute, *timer, [&](const std::string& text) { warnings.push_back(text); }});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings.front(), HasSubstr("clip_norm"));
}

}  // namespace
}  // namespace lockstep::train
