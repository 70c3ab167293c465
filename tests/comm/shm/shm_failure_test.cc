// What a rank sees over shm when another one dies, stops, never comes or does something else.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/comm/shm/shm_backend.h"
#include "tests/support/ranks.h"

namespace lockstep::testing {
namespace {

using base::CommError;

std::unique_ptr<comm::Communicator> open_shm(Rank& self, base::Nanoseconds timeout) {
  comm::OpenOptions options;
  options.timeout = timeout;
  return comm::ShmBackend().open(self.group, self.store, options);
}

// Runs the operation and expects an error of this kind whose text holds the words.
void expect_error(comm::Communicator& communicator, const comm::Operation& operation, CommError::Kind kind,
                  const std::string& words) {
  try {
    communicator.run(operation);
  } catch (const CommError& error) {
    check(error.kind() == kind, std::string("another kind of error: ") + error.what());
    check(std::string(error.what()).find(words) != std::string::npos,
          std::string("misses '") + words + "': " + error.what());
    return;
  }
  check(false, "the operation must not succeed");
}

TEST(ShmFailure, NamesTheRankWhoseProcessWasKilled) {
  const auto begin = base::now();
  const auto results = run_ranks(3, [](Rank& self) {
    const auto communicator = open_shm(self, std::chrono::seconds(30));
    communicator->run(comm::barrier());
    if (self.group.rank == 1) ::kill(::getpid(), SIGKILL);
    std::vector<float> values(100000);
    expect_error(*communicator,
                 comm::all_reduce(comm::host_buffer(values.data(), values.size(), comm::ElementType::f32),
                                  comm::ReduceOp::sum, comm::Purpose::gradient),
                 CommError::Kind::peer_lost, "the process of rank 1 has ended");
  });
  EXPECT_EQ(results[0].exit_code, 0) << results[0].message;
  EXPECT_EQ(results[1].signal, SIGKILL);
  EXPECT_EQ(results[2].exit_code, 0) << results[2].message;
  EXPECT_LT(base::now() - begin, std::chrono::seconds(10));
}

TEST(ShmFailure, TimesOutAndNamesTheRankThatIsStopped) {
  const auto results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_shm(self, std::chrono::milliseconds(400));
        if (self.group.rank == 1) ::raise(SIGSTOP);
        expect_error(*communicator, comm::barrier(), CommError::Kind::timed_out, "not arrived: rank 1");
      },
      std::chrono::seconds(3));
  EXPECT_EQ(results[0].exit_code, 0) << results[0].message;
  EXPECT_EQ(results[1].signal, SIGKILL) << "the stopped one is killed by the harness";
}

TEST(ShmFailure, TimesOutWhenARankNeverArrives) {
  const auto results = run_ranks(2, [](Rank& self) {
    if (self.group.rank == 1) return;
    try {
      open_shm(self, std::chrono::milliseconds(300));
      check(false, "must not open");
    } catch (const CommError& error) {
      check(error.kind() == CommError::Kind::timed_out, error.what());
      check(std::string(error.what()).find("not arrived: rank 1") != std::string::npos, error.what());
    }
  });
  EXPECT_EQ(results[0].exit_code, 0) << results[0].message;
}

TEST(ShmFailure, SaysWhoDisagreesAboutCountTypeOrCollective) {
  expect_ranks_succeed(2, [](Rank& self) {
    std::vector<double> memory(1 << 16);
    const bool first = self.group.rank == 0;
    const auto tensor = [&memory](std::size_t count, comm::ElementType type) {
      return comm::all_reduce(comm::host_buffer(memory.data(), count, type), comm::ReduceOp::sum,
                              comm::Purpose::gradient);
    };
    using comm::ElementType;
    const std::vector<std::pair<comm::Operation, comm::Operation>> pairs = {
        {tensor(10, ElementType::f32), tensor(11, ElementType::f32)},
        {tensor(10, ElementType::f32), tensor(10, ElementType::i32)},
        {tensor(40000, ElementType::f32), comm::barrier()},
    };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      comm::OpenOptions options;
      options.channel = "pair" + std::to_string(i);
      options.timeout = std::chrono::seconds(5);
      const auto communicator = comm::ShmBackend().open(self.group, self.store, options);
      expect_error(*communicator, first ? pairs[i].first : pairs[i].second, CommError::Kind::disagreement,
                   "ranks disagree");
    }
  });
}

// Launchers of other runs on this machine keep directories there, too.
bool belongs_to_shm(const std::string& name) {
  return name.find("lockstep") != std::string::npos && !name.starts_with("lockstep-run-");
}

TEST(ShmFailure, LeavesNothingInTheSharedMemoryFileSystem) {
  const auto count_files = [] {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      files += belongs_to_shm(entry.path().filename().string());
    return files;
  };
  const std::size_t before = count_files();
  run_ranks(2, [](Rank& self) {
    const auto communicator = open_shm(self, std::chrono::seconds(5));
    const comm::Allocation buffer = communicator->allocate(1 << 20);
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_EQ(count_files(), before);
}

TEST(ShmBackendTest, RefusesWorkersOfSeveralHosts) {
  FileStore store("unused");
  EXPECT_THROW(comm::ShmBackend().open({0, 4, 0, 2, "host"}, store, {}), base::ConfigError);
}

TEST(ShmBits, AreTheSameTwiceAndOnEveryRankWhicheverWayIsTaken) {
  expect_ranks_succeed(3, [](Rank& self) {
    const auto communicator = open_shm(self, std::chrono::seconds(30));
    constexpr std::size_t kCount = 100003;
    comm::Allocation owned = communicator->allocate(kCount * 4);
    std::vector<float> staged(kCount), first(kCount);
    const auto fill = [&self](float* values) {
      for (std::size_t i = 0; i < kCount; ++i)
        values[i] = 1.0f / static_cast<float>(i + 3 + 7 * static_cast<std::size_t>(self.group.rank));
    };
    const auto reduce = [&communicator](float* values) {
      communicator->run(comm::all_reduce(comm::host_buffer(values, kCount, comm::ElementType::f32),
                                         comm::ReduceOp::sum, comm::Purpose::gradient));
    };
    fill(first.data());
    reduce(first.data());
    fill(staged.data());
    reduce(staged.data());
    check(staged == first, "two staged runs differ");
    fill(static_cast<float*>(owned.data()));
    reduce(static_cast<float*>(owned.data()));
    check(std::equal(first.begin(), first.end(), static_cast<float*>(owned.data())),
          "in place and staged differ");
    std::vector<float> of_root = first;
    communicator->run(comm::broadcast(comm::host_buffer(of_root.data(), kCount, comm::ElementType::f32), 0,
                                      comm::Purpose::parameter));
    check(of_root == first, "ranks differ");
  });
}

}  // namespace
}  // namespace lockstep::testing
