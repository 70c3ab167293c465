#include "tests/support/replicas.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "lockstep/comm/local/local_backend.h"

namespace lockstep::testing {

void expect_replicas_succeed(int replicas, const std::function<void(comm::Communicator&)>& body) {
  expect_replicas_succeed(
      replicas, [] { return nullptr; }, body);
}

void expect_replicas_succeed(int replicas, const HandsMaker& device_hands,
                             const std::function<void(comm::Communicator&)>& body) {
  comm::OpenOptions options;
  options.timeout = std::chrono::seconds(60);
  std::vector<std::unique_ptr<comm::shared::Hands>> hands;
  for (int replica = 0; replica < replicas; ++replica) hands.push_back(device_hands());
  auto group = comm::open_local_group(replicas, options, std::move(hands));
  std::vector<std::string> messages(group.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < group.size(); ++r)
    threads.emplace_back([&, r] {
      try {
        body(*group[r]);
      } catch (const std::exception& error) {
        messages[r] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t r = 0; r < messages.size(); ++r)
    EXPECT_EQ(messages[r], "") << "replica " << r << " of " << replicas;
}

}  // namespace lockstep::testing
