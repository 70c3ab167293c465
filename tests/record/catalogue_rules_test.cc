#include "lockstep/record/catalogue_rules.h"

#include "lockstep/record/catalogue.h"
#include "lockstep/record/catalogue_strategies.h"
#include "tests/record/messages.h"

namespace lockstep::record {
namespace {

using ::testing::HasSubstr;

struct Refused {
  Combination run;
  const char* field;
  const char* reason;
  const char* nearest;
};

class RefusedCombination : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedCombination, is_refused_by_name_with_the_reason_and_the_nearest) {
  const auto problems = problems_of(GetParam().run);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].field, GetParam().field);
  EXPECT_THAT(problems[0].reason, HasSubstr(GetParam().reason));
  EXPECT_THAT(problems[0].nearest, HasSubstr(GetParam().nearest));
}

Combination run(const char* strategy, const char* backend, const char* device, int workers = 2, int hosts = 1,
                const char* engine = "lockstep", const char* model = "lenet5", const char* data = "mnist") {
  return {engine, model, data, strategy, backend, device, workers, hosts};
}

Combination sliced(Combination run, double share, int gpus) {
  run.slice_share = share;
  run.gpus = gpus;
  return run;
}

INSTANTIATE_TEST_SUITE_P(Slices, RefusedCombination,
                         ::testing::Values(Refused{sliced(run("ddp", "shm", "cpu"), 0.5, 0), "slice_share",
                                                   "device is cpu", "device cuda"},
                                           Refused{sliced(run("ddp", "nccl", "cuda", 4), 0.5, 1),
                                                   "slice_share", "4 workers", "slice_share 25%"},
                                           Refused{sliced(run("ddp", "nccl", "cuda", 5), 0.5, 2),
                                                   "slice_share", "3 workers", "slice_share 33.3333%"},
                                           Refused{sliced(run("dp", "local", "cuda"), 0.5, 1), "slice_share",
                                                   "one process", "ddp"}));

Combination torch_dp(int workers, int gpus) {
  Combination dp = run("dp", "local", "cuda", workers, 1, "torch");
  dp.gpus = gpus;
  return dp;
}

INSTANTIATE_TEST_SUITE_P(
    DataParallel, RefusedCombination,
    ::testing::Values(Refused{torch_dp(2, 1), "strategy", "needs 2 GPUs, and there is 1", "strategy ddp"},
                      Refused{torch_dp(1, 1), "strategy", "needs 2 GPUs", "strategy ddp"},
                      Refused{torch_dp(4, 3), "strategy", "needs 4 GPUs, and there are 3", "strategy ddp"}));

TEST(DataParallel, is_allowed_with_a_gpu_for_each_worker_or_where_nobody_has_counted_them) {
  for (const Combination& good : {torch_dp(2, 2), torch_dp(1, 2), torch_dp(4, 8), torch_dp(2, 0)})
    EXPECT_TRUE(problems_of(good).empty()) << good.workers << " workers, " << good.gpus << " GPUs";
}

TEST(Slices, are_allowed_up_to_the_whole_of_every_gpu) {
  EXPECT_TRUE(problems_of(sliced(run("ddp", "nccl", "cuda", 8), 0.125, 1)).empty());
  EXPECT_TRUE(problems_of(sliced(run("ddp", "p2p", "cuda", 4), 0.5, 2)).empty());
  EXPECT_TRUE(problems_of(sliced(run("single", "local", "cuda", 1), 0.125, 1)).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RefusedCombination,
    ::testing::Values(
        Refused{run("zero1", "gloo", "cpu", 2, 1, "torch"), "strategy", "PyTorch has no such", "ddp"},
        Refused{run("horovod", "gloo", "cpu", 2, 1, "torch"), "strategy", "PyTorch has no such", "ddp"},
        Refused{run("single", "local", "cpu", 2), "strategy", "one worker", "ddp, or workers 1"},
        Refused{run("dp", "nccl", "cuda", 2, 1, "torch"), "backend", "local only", "backend local"},
        Refused{run("dp", "local", "cuda", 2, 2, "torch"), "strategy", "2 hosts", "ddp over backend gloo"},
        Refused{run("dp", "local", "cpu", 2, 1, "torch"), "strategy", "needs GPUs", "ddp"},
        Refused{run("zero3", "gloo", "cpu", 2, 1, "torch"), "strategy", "FSDP needs GPUs", "ddp"},
        Refused{run("dp", "shm", "cpu"), "backend", "local only", "backend local"},
        Refused{run("dp", "gloo", "cpu", 4), "backend", "local only", "backend local"},
        Refused{run("dp", "nccl", "cuda"), "backend", "local only", "backend local"},
        Refused{run("ddp", "local", "cpu"), "backend", "inside one process", "backend shm"},
        Refused{run("ddp", "nccl", "cpu"), "backend", "GPUs only", "backend shm, or device cuda"},
        Refused{run("ddp", "p2p", "cpu"), "backend", "GPUs only", "backend shm, or device cuda"},
        Refused{run("ddp", "p2p", "cuda", 4, 2), "backend", "2 hosts", "backend nccl"},
        Refused{run("ddp", "p2p", "cuda", 2, 1, "torch"), "backend", "PyTorch's own", "backend nccl"},
        Refused{run("horovod", "p2p", "cpu"), "backend", "GPUs only", "backend shm, or device cuda"},
        Refused{run("ddp", "shm", "cpu", 4, 2), "backend", "2 hosts", "backend gloo"},
        Refused{run("ddp", "shm", "cpu", 2, 1, "torch"), "backend", "PyTorch's own", "backend gloo"},
        Refused{run("ddp", "gloo", "cpu", 2, 1, "torch", "lenet5", "digits"), "data", "engine torch does not",
                "data mnist, fashion-mnist, cifar10, folder:PATH, or engine lockstep"},
        Refused{run("ddp", "gloo", "cpu", 2, 1, "torch", "pilotnet", "road"), "data", "engine torch does not",
                "data driving, or engine lockstep"},
        Refused{run("ddp", "gloo", "cpu", 2, 1, "torch", "restorer", "mnist"), "data",
                "model restorer is for restoration", "data images:PATH"},
        Refused{run("ddp", "shm", "cpu", 2, 1, "lockstep", "restorer", "mnist"), "data",
                "model restorer is for restoration", "images:PATH, texture"},
        Refused{run("ddp", "shm", "cpu", 2, 1, "lockstep", "pilotnet", "cifar10"), "data", "is for steering",
                "driving, road"},
        Refused{run("ddp", "shm", "cpu", 2, 1, "lockstep", "vit", "road"), "data", "is for classification",
                "mnist, fashion-mnist"}));

TEST(Combinations, that_work_are_not_refused) {
  for (const Combination& good : {run("single", "local", "cpu", 1),
                                  run("single", "shm", "cpu", 1),
                                  run("ddp", "shm", "cpu"),
                                  run("ddp", "gloo", "cpu", 4, 2),
                                  run("ddp", "mpi", "cpu"),
                                  run("ddp", "nccl", "cuda"),
                                  run("ddp", "shm", "cuda"),
                                  run("zero1", "gloo", "cuda"),
                                  run("ddp", "p2p", "cuda"),
                                  run("zero1", "p2p", "cuda"),
                                  run("zero3", "p2p", "cuda"),
                                  run("localsgd", "p2p", "cuda"),
                                  run("horovod", "nccl", "cuda"),
                                  run("horovod", "p2p", "cuda"),
                                  run("horovod", "shm", "cuda"),
                                  run("horovod", "nccl", "cuda", 4, 2),
                                  run("dp", "local", "cpu", 3),
                                  run("dp", "local", "cuda", 3),
                                  run("ddp", "gloo", "cuda", 2, 1, "torch"),
                                  run("dp", "local", "cuda", 2, 1, "torch"),
                                  run("ddp", "shm", "cpu", 2, 1, "lockstep", "mine.pt", "road")}) {
    EXPECT_TRUE(problems_of(good).empty())
        << good.strategy << " over " << good.backend << " on " << good.device;
  }
}

// Whatever `auto` resolves to must work, for every strategy that the engine has.
TEST(Combinations, that_auto_chooses_always_work) {
  for (const char* engine : {"lockstep", "torch"}) {
    for (const int workers : {1, 2, 8}) {
      for (const int hosts : {1, 2}) {
        for (const int gpus : {0, 8}) {
          RunSpec spec;
          spec.engine = engine;
          spec.workers = workers;
          EXPECT_TRUE(problems_of(resolve(spec, {hosts, gpus})).empty())
              << engine << " workers " << workers << " hosts " << hosts << " gpus " << gpus;
        }
      }
    }
  }
}

TEST(Combinations, take_p2p_by_themselves_where_workers_of_one_host_share_a_gpu) {
  RunSpec spec;
  spec.workers = 4;
  EXPECT_EQ(resolve(spec, {1, 1, true}).backend, "p2p");
  EXPECT_EQ(resolve(spec, {1, 3, true}).backend, "p2p");
  EXPECT_EQ(resolve(spec, {1, 4, true}).backend, "nccl");
  EXPECT_EQ(resolve(spec, {1, 1, false}).backend, "nccl");
  EXPECT_EQ(resolve(spec, {2, 1, true}).backend, "nccl");
  spec.engine = "torch";
  EXPECT_EQ(resolve(spec, {1, 1, true}).backend, "nccl");
  spec.engine = "lockstep";
  spec.backend = "nccl";
  EXPECT_EQ(resolve(spec, {1, 1, true}).backend, "nccl");
}

TEST(Catalogue, has_distinct_names_and_a_description_for_each_entry) {
  for (const auto& entry : strategy_entries()) EXPECT_FALSE(entry.description.empty());
  for (const auto& entry : backend_entries()) EXPECT_FALSE(entry.description.empty());
  for (const auto& entry : device_entries()) EXPECT_FALSE(entry.description.empty());
  EXPECT_EQ(strategy_entries().size(), 7u);
}

TEST(Catalogue, says_how_dp_works_in_two_lines_and_what_it_sends_and_keeps) {
  const StrategyEntry* dp = find_entry(strategy_entries(), "dp");
  EXPECT_EQ(std::count(dp->explanation.begin(), dp->explanation.end(), '\n'), 1);
  EXPECT_FALSE(dp->sends.empty());
  EXPECT_FALSE(dp->keeps.empty());
}

TEST(Dp, takes_the_gpus_there_are_and_is_one_process) {
  RunSpec spec;
  spec.strategy = "dp";
  spec.workers = 3;
  EXPECT_EQ(resolve(spec, {1, 8}).device, "cuda");
  EXPECT_EQ(resolve(spec, {1, 0}).device, "cpu");
  EXPECT_EQ(processes_of(spec), 1);
  spec.strategy = "ddp";
  EXPECT_EQ(processes_of(spec), 3);
}

TEST(BatchSizes, follow_whichever_of_the_two_is_given) {
  RunSpec spec;
  spec.workers = 4;
  EXPECT_EQ(batch_sizes(spec).global, 128);
  spec.batch_size = 8;
  EXPECT_EQ(batch_sizes(spec).global, 32);
  spec.batch_size.reset();
  spec.global_batch = 30;
  EXPECT_EQ(batch_sizes(spec).per_worker, 8);
  EXPECT_EQ(batch_sizes(spec).global, 30);
}

}  // namespace
}  // namespace lockstep::record
