#include "lockstep/record/record_builder.h"

#include "lockstep/record/threads.h"
#include "tests/record/messages.h"

namespace lockstep::record {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

// Two ranks, one warm-up step and three that count, one epoch; rank 1's share of the batch is half of rank
// 0's.
class RecordBuilder : public ::testing::Test {
 protected:
  RecordBuilder() {
    context.id = "run-1";
    context.spec.workers = 2;
    context.commanded_at =
        1767323042.5;  // 2026-01-02T03:04:02.5Z; rank 0 says, a second after the common beginning, 03:04:05
    context.total_seconds = 60;
    for (int rank = 0; rank < 2; ++rank) {
      add(rank, StartedEvent{"0.1.0", "lockstep", 2, 32, 64, "2026-01-02T03:04:05Z", {}, 1000, 1e6});
      for (int i = 0; i < 4; ++i) add(rank, step(rank, i));
      add(rank, epoch(rank));
    }
  }

  void add(int rank, EventBody body) { events.push_back({rank, clock += 1, std::move(body)}); }
  void finish(int rank) {
    FinishedEvent finished;
    finished.wall_seconds = {{}, 1.0, 2.0, 0.5, 4.0};
    add(rank, finished);
  }
  RunRecord build() { return build_record(context, events); }

  static StepEvent step(int rank, int number) {
    StepEvent step;
    step.step = number;
    step.seconds = number == 0 ? 10 : 0.1 * number;
    step.samples = rank == 0 ? 20 : 10;
    step.warmup = number == 0;
    step.split_seconds = SplitSeconds{0.01, 0.0, 0.05, 0.05, 0.02, 0.01, {}};
    step.busy_seconds = 0.04;
    step.exposed_seconds = 0.01 * (rank + 1);
    step.buckets = std::vector<BucketTimes>{{100, 0.1 * number, {}, {}}};
    return step;
  }
  static EpochEvent epoch(int rank) {
    EpochEvent epoch;
    epoch.epoch = 1;
    epoch.seconds = 5;
    epoch.train_samples = rank == 0 ? 80 : 40;
    epoch.train_loss = rank == 0 ? 1.0 : 4.0;
    return epoch;
  }

  RunContext context;
  std::vector<Event> events;
  double clock = 0;
};

TEST_F(RecordBuilder, keeps_warm_up_steps_apart) {
  const RunRecord record = build();
  EXPECT_EQ(record.steps.count, 4);
  EXPECT_EQ(record.steps.warmup, 1);
  EXPECT_DOUBLE_EQ(record.steps.seconds->median, 0.2);
  EXPECT_THAT(record.steps.samples,
              ElementsAre(DoubleNear(0.1, 1e-12), DoubleNear(0.2, 1e-12), DoubleNear(0.3, 1e-12)));
}

TEST_F(RecordBuilder, gives_no_interval_of_fewer_than_six_steps) {
  for (int i = 4; i < 6; ++i) add(0, step(0, i));  // five are measured
  EXPECT_TRUE(build().steps.seconds->ci95.empty());
  add(0, step(0, 6));
  EXPECT_EQ(build().steps.seconds->ci95.size(), 2u);
}

TEST_F(RecordBuilder, counts_the_samples_of_all_ranks_over_the_time_of_rank_zero) {
  const RunRecord record = build();
  EXPECT_DOUBLE_EQ(*record.steps.samples_per_second, 90 / 0.6);
  EXPECT_DOUBLE_EQ(*record.steps.flops_per_second, 90 / 0.6 * 1000);
  EXPECT_DOUBLE_EQ(*record.steps.share_of_peak, 90 / 0.6 * 1000 / 2e6);
}

TEST_F(RecordBuilder, gives_no_share_of_the_peak_where_workers_share_cores) {
  context.machine = nlohmann::json{{"cores", 1}};
  const RunRecord record = build();
  EXPECT_TRUE(record.oversubscribed);
  EXPECT_TRUE(record.steps.flops_per_second);
  EXPECT_FALSE(record.steps.share_of_peak);
}

TEST_F(RecordBuilder, counts_the_threads_that_workers_really_had) {
  context.machine = nlohmann::json{{"cores", 4}};
  std::get<StartedEvent>(events.front().body).threads = 3;
  const RunRecord record = build();
  EXPECT_EQ(record.threads, 3);
  EXPECT_EQ(threads_per_worker(record), 3);
  EXPECT_TRUE(record.oversubscribed);
}

TEST_F(RecordBuilder, compares_the_cores_of_a_host_with_the_workers_on_it) {
  context.spec.workers = 8;
  context.machine = nlohmann::json{{"cores", 4}};
  EXPECT_TRUE(build().oversubscribed);
  context.local_world = 4;
  EXPECT_FALSE(build().oversubscribed);
  EXPECT_EQ(build().local_world, 4);
  EXPECT_EQ(workers_on_host(build()), 4);
  context.local_world = 5;
  EXPECT_TRUE(build().oversubscribed);
}

TEST_F(RecordBuilder, does_not_count_the_workers_of_a_host_that_has_them_all) {
  context.local_world = 2;
  EXPECT_FALSE(build().local_world);
  EXPECT_EQ(workers_on_host(build()), 2);
}

TEST_F(RecordBuilder, lets_no_epoch_that_the_run_ended_in_stand_for_a_rank) {
  EpochEvent begun = epoch(1);
  begun.epoch = 2;
  begun.unfinished = true;
  begun.train_loss = 77;
  add(1, begun);
  EXPECT_EQ(build().per_rank[1].train_loss, 4.0);
}

TEST_F(RecordBuilder, makes_the_split_sum_to_the_mean_step) {
  const SplitSeconds split = *build().steps.split_seconds;
  const double sum = *split.data + *split.input + *split.forward + *split.backward + *split.exposed_comm +
                     *split.optimizer + *split.other;
  EXPECT_NEAR(sum, 0.2, 1e-12);
}

TEST_F(RecordBuilder, calls_nothing_other_when_a_span_is_unknown) {
  for (Event& event : events) {
    if (auto* step = std::get_if<StepEvent>(&event.body)) step->split_seconds->input.reset();
  }
  const SplitSeconds split = *build().steps.split_seconds;
  EXPECT_FALSE(split.input.has_value());
  EXPECT_FALSE(split.other.has_value());
}

TEST_F(RecordBuilder, gives_the_hidden_fraction_and_medians_of_buckets) {
  const CommFigures comm = build().comm;
  EXPECT_NEAR(*comm.hidden_fraction, 0.75, 1e-12);
  ASSERT_EQ(comm.buckets->size(), 1u);
  EXPECT_NEAR(*(*comm.buckets)[0].ready_seconds, 0.2, 1e-12);
  EXPECT_FALSE((*comm.buckets)[0].end_seconds.has_value());
}

TEST_F(RecordBuilder, weighs_each_ranks_loss_by_its_samples) {
  const RunRecord record = build();
  ASSERT_EQ(record.epochs.size(), 1u);
  EXPECT_DOUBLE_EQ(*record.epochs[0].train_loss, 2.0);
  EXPECT_EQ(record.epochs[0].per_rank.size(), 2u);
  EXPECT_FALSE(record.epochs[0].val_loss.has_value());
}

TEST_F(RecordBuilder, takes_the_last_ledger_of_each_rank_and_the_worst_memory) {
  for (int rank = 0; rank < 2; ++rank) {
    for (const std::uint64_t wire : {10, 20}) {
      LedgerEvent ledger;
      ledger.rows = {{0, "gradient", "all_reduce", "shm", {}, wire, {}, {}, {}}};
      add(rank, ledger);
    }
    MemoryEvent memory;
    memory.peak_bytes = static_cast<std::uint64_t>(100 + rank);
    add(rank, memory);
  }
  const RunRecord record = build();
  ASSERT_EQ(record.ledger.size(), 2u);
  EXPECT_EQ(record.ledger[1].rank, 1);
  EXPECT_EQ(record.ledger[1].wire_bytes, 20u);
  EXPECT_EQ(record.memory->peak_bytes, 101u);
}

TEST_F(RecordBuilder, calls_a_run_finished_only_when_every_rank_said_so) {
  finish(0);
  EXPECT_EQ(build().status, "interrupted");
  finish(1);
  EXPECT_EQ(build().status, "finished");
  EXPECT_EQ(build().wall_seconds.train, 2.0);
}

TEST_F(RecordBuilder, hears_of_pytorchs_data_parallel_from_its_one_process) {
  std::erase_if(events, [](const Event& event) { return event.rank != 0; });
  context.spec.engine = "torch";
  context.spec.strategy = "dp";
  add(0, WarningEvent{"slow disk"});
  EXPECT_EQ(build().status, "interrupted");
  finish(0);
  const RunRecord record = build();
  EXPECT_EQ(record.status, "finished");
  EXPECT_EQ(record.workers, 2);
  EXPECT_EQ(record.per_rank.size(), 1u);
  EXPECT_THAT(record.warnings, ElementsAre("slow disk"));
  context.spec.engine = "lockstep";
  EXPECT_EQ(build().status, "interrupted");
}

TEST_F(RecordBuilder, adds_up_what_a_run_that_died_had_trained) {
  events.front().time = 0.25;  // when rank 0 started
  const RunRecord record = build();
  EXPECT_EQ(record.wall_seconds.load, 0.25);
  EXPECT_DOUBLE_EQ(*record.wall_seconds.train, 10.6);
  EXPECT_FALSE(record.wall_seconds.validate);
}

TEST_F(RecordBuilder, launch_is_from_the_command_to_the_common_beginning_of_the_ranks) {
  EXPECT_EQ(build().wall_seconds.launch, 1.5);
  context.commanded_at = 1767323045;  // a clock that was set meanwhile
  EXPECT_FALSE(build().wall_seconds.launch);
}

TEST_F(RecordBuilder, blames_the_rank_that_failed_first_not_the_ones_that_followed) {
  add(0, FailedEvent{"collateral", "rank 1 is gone"});
  add(1, FailedEvent{"out_of_memory", "asked for 1 GiB", 300, 200});
  const RunRecord record = build();
  EXPECT_EQ(record.status, "out_of_memory");
  EXPECT_EQ(record.failure->rank, 1);
  EXPECT_EQ(record.failure->needed_bytes, 300u);
  EXPECT_EQ(record.failure->cap_bytes, 200u);
}

TEST_F(RecordBuilder, of_ranks_that_fail_alike_names_the_one_that_the_launcher_named) {
  add(0, FailedEvent{"out_of_memory", "asked for 1 GiB", 300, 200});
  add(1, FailedEvent{"out_of_memory", "asked for 2 GiB", 400, 200});
  context.failure = FailureFigures{1, "exited", "rank 1 exited with code 7"};
  const RunRecord record = build();
  EXPECT_EQ(record.failure->rank, 1);
  EXPECT_EQ(record.failure->message, "asked for 2 GiB");
  EXPECT_EQ(record.failure->needed_bytes, 400u);
}

TEST_F(RecordBuilder, blames_no_rank_for_a_signal_that_was_sent_to_the_run) {
  add(1, FailedEvent{"interrupted", "interrupted after step 4"});
  const RunRecord record = build();
  EXPECT_EQ(record.status, "interrupted");
  EXPECT_EQ(record.failure->rank, -1);
}

TEST_F(RecordBuilder, takes_the_launchers_word_for_a_rank_that_could_not_say_anything) {
  add(0, FailedEvent{"collateral", "rank 1 is gone"});
  context.failure = FailureFigures{1, "signal", "killed by signal 9"};
  EXPECT_EQ(build().failure->message, "killed by signal 9");
  EXPECT_EQ(build().status, "failed");
}

TEST_F(RecordBuilder, takes_the_launchers_word_for_why_it_ended_a_rank) {
  add(0, FailedEvent{"interrupted", "stopped by signal 15"});
  context.failure = FailureFigures{1, "killed", "rank 1 was killed by signal 9"};
  EXPECT_EQ(build().failure, context.failure);
  EXPECT_EQ(build().status, "failed");
}

TEST_F(RecordBuilder, believes_a_rank_that_says_that_it_was_interrupted_and_then_exits) {
  add(1, FailedEvent{"interrupted", "stopped by signal 15"});
  context.failure = FailureFigures{1, "exited", "rank 1 exited with code 143"};
  EXPECT_EQ(build().status, "interrupted");
  EXPECT_EQ(build().failure->message, "stopped by signal 15");
  EXPECT_EQ(build().failure->rank, -1);
}

// A rank inside MPI_Init is ended by the launcher's SIGTERM, and says so.
TEST_F(RecordBuilder, takes_the_launchers_word_that_the_time_was_over) {
  add(0, FailedEvent{"interrupted", "rank 0 was interrupted by SIGTERM"});
  add(1, FailedEvent{"interrupted", "rank 1 was interrupted by SIGTERM"});
  context.failure = FailureFigures{1, "timed_out", "rank 1 waited 6.00 s in MPI_Init"};
  EXPECT_EQ(build().failure, context.failure);
  EXPECT_EQ(build().status, "failed");
}

TEST_F(RecordBuilder, believes_a_rank_that_was_sent_a_signal_before_the_time_was_over) {
  FailedEvent interrupted{"interrupted", "rank 1 was interrupted by SIGTERM"};
  interrupted.signalled_rank = 1;
  add(1, interrupted);
  context.failure = FailureFigures{0, "timed_out", "rank 0 waited 3.00 s in all_reduce"};
  EXPECT_EQ(build().status, "interrupted");
  EXPECT_EQ(build().failure->rank, 1);
}

TEST_F(RecordBuilder, names_the_rank_that_a_signal_was_sent_to) {
  FailedEvent interrupted{"interrupted", "rank 1 was interrupted by SIGTERM after step 8"};
  interrupted.signalled_rank = 1;
  add(0, interrupted);
  add(1, interrupted);
  context.failure =
      FailureFigures{-1, "interrupted", "the run was interrupted by SIGTERM to one of its ranks"};
  EXPECT_EQ(build().status, "interrupted");
  EXPECT_EQ(build().failure->rank, 1);
  EXPECT_EQ(build().failure->message, interrupted.message);
}

TEST_F(RecordBuilder, a_signal_that_came_when_all_had_finished_interrupted_nothing) {
  finish(0);
  finish(1);
  context.failure = FailureFigures{-1, "interrupted", "the run was interrupted by SIGTERM"};
  EXPECT_EQ(build().status, "finished");
  EXPECT_FALSE(build().failure);
}

TEST_F(RecordBuilder, says_a_warning_once_and_whose_it_is) {
  add(0, WarningEvent{"random weights are frozen"});
  add(1, WarningEvent{"random weights are frozen"});
  add(1, WarningEvent{"slow disk"});
  EXPECT_THAT(build().warnings, ElementsAre("random weights are frozen", "rank 1: slow disk"));
}

TEST_F(RecordBuilder, names_all_ranks_of_a_warning_that_some_gave) {
  context.spec.workers = 3;
  for (const int rank : {0, 2}) add(rank, WarningEvent{"slow disk"});
  EXPECT_THAT(build().warnings, ElementsAre("ranks 0, 2: slow disk"));
}

TEST_F(RecordBuilder, thins_many_step_times_and_says_so) {
  for (int i = 4; i < 2504; ++i) add(0, step(0, i));
  const RunRecord record = build();
  EXPECT_LE(record.steps.samples.size(), 1000u);
  EXPECT_EQ(record.steps.samples_every, 3);
}

TEST_F(RecordBuilder, works_on_a_stream_without_anything) {
  events.clear();
  const RunRecord record = build();
  EXPECT_EQ(record.status, "interrupted");
  EXPECT_FALSE(record.steps.seconds.has_value());
  EXPECT_FALSE(record.memory.has_value());
}

}  // namespace
}  // namespace lockstep::record
