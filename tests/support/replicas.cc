#include "tests/support/replicas.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "lockstep/comm/local/local_backend.h"

namespace lockstep::testing {

void expect_replicas_succeed(int replicas, const std::function<void(comm::Communicator&)>& body) {
  comm::OpenOptions options;
  options.timeout = std::chrono::seconds(60);
  auto group = comm::open_local_group(replicas, options);
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
