#include "lockstep/parallel/dp/row_exchange.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/ranks.h"
#include "tests/support/replicas.h"

namespace lockstep::parallel {
namespace {

using testing::check;

TEST(RowShares, DifferByOneAndTheFirstAreLarger) {
  const auto counts = [](std::int64_t rows, int replicas) {
    std::vector<std::int64_t> all;
    for (const RowShare& share : share_rows(rows, replicas)) all.push_back(share.count);
    return all;
  };
  EXPECT_EQ(counts(10, 4), (std::vector<std::int64_t>{3, 3, 2, 2}));
  EXPECT_EQ(counts(2, 3), (std::vector<std::int64_t>{1, 1, 0}));
  EXPECT_EQ(share_rows(10, 4)[2].begin, 6);
}

// Rows go out and come back, also where a replica has none, and whichever way they take.
TEST(RowExchange, BringsBackWhatItScattered) {
  for (const bool threaded : {false, true}) {
    for (const std::int64_t rows : {1, 2, 7, 4000}) {
      const at::Tensor whole = at::arange(rows * 6, at::kDouble).reshape({rows, 2, 3});
      testing::expect_replicas_succeed(3, [&](comm::Communicator& communicator) {
        RowExchange exchange(communicator, threaded);
        const std::vector<RowShare> shares = share_rows(rows, 3);
        const RowShare& mine = shares[static_cast<std::size_t>(communicator.group().rank)];
        const at::Tensor part = exchange.scatter(whole, RowShape::of(whole), shares, comm::Purpose::input);
        check(at::equal(part, whole.narrow(0, mine.begin, mine.count)), "these are other rows");
        const at::Tensor twice =
            exchange.gather(part * 2, RowShape::of(whole), shares, comm::Purpose::output);
        if (communicator.group().rank == 0) check(at::equal(twice, whole * 2), "not all rows came back");
      });
    }
  }
}

}  // namespace
}  // namespace lockstep::parallel
