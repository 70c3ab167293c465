// A run for tests: a server in the test's process and ranks that are forked before it starts serving.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

#include "lockstep/comm/rendezvous/run_client.h"
#include "lockstep/comm/rendezvous/run_server.h"
#include "tests/comm/rendezvous/forked_ranks.h"

namespace lockstep::comm::testing {

class RunTest : public ::testing::Test {
 protected:
  // What a forked rank has in hand once it has joined.
  struct Rank {
    int rank;
    OperationBoards boards;
    std::shared_ptr<OperationBoard> board = boards.add();
    std::unique_ptr<RunClient> client{};
  };

  RunServerOptions server_options(int world) const {
    RunServerOptions options;
    options.world = world;
    options.key = key_;
    options.join_timeout = std::chrono::seconds(20);
    return options;
  }

  RunClientOptions client_options(int rank, int world) const {
    RunClientOptions options;
    options.address = server_->address();
    options.port = server_->port();
    options.rank = rank;
    options.world = world;
    options.key = key_;
    options.join_timeout = std::chrono::seconds(20);
    return options;
  }

  // Forks the ranks 0 to `started` - 1, each of which joins and runs `body`, and serves.
  void start(const RunServerOptions& options, int started, const std::function<int(Rank&)>& body) {
    server_ = std::make_unique<RunServer>(options);
    ranks_ = std::make_unique<ForkedRanks>(started, [&](int number) {
      Rank rank{number, {}};
      rank.client = std::make_unique<RunClient>(client_options(number, options.world), rank.boards);
      return body(rank);
    });
    server_->start([](const Verdict&) {});
  }
  void start(int world, const std::function<int(Rank&)>& body) { start(server_options(world), world, body); }

  Verdict verdict() {
    EXPECT_TRUE(eventually([this] { return server_->verdict().has_value(); }));
    return server_->verdict().value_or(Verdict{});
  }

  const std::string key_ = make_key();
  std::unique_ptr<RunServer> server_;
  std::unique_ptr<ForkedRanks> ranks_;
};

}  // namespace lockstep::comm::testing
