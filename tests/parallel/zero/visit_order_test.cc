#include "lockstep/parallel/zero/visit_order.h"

#include <gtest/gtest.h>

namespace lockstep::parallel {
namespace {

std::vector<int> foretold(VisitOrder& order, const std::vector<std::size_t>& pass) {
  order.begin_pass();
  std::vector<int> next;
  for (const std::size_t layer : pass) {
    const auto told = order.visit(layer);
    next.push_back(told ? static_cast<int>(*told) : -1);
  }
  return next;
}

TEST(VisitOrder, KnowsWhatComesNextFromTheSecondPassOn) {
  VisitOrder order;
  EXPECT_EQ(foretold(order, {0, 1, 2, 2, 1, 0}), (std::vector<int>{-1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(foretold(order, {0, 1, 2, 2, 1, 0}), (std::vector<int>{1, 2, 2, 1, 0, -1}));
}

TEST(VisitOrder, LearnsAnotherWayAnew) {
  VisitOrder order;
  foretold(order, {0, 1, 2});
  EXPECT_EQ(foretold(order, {0, 2, 1}), (std::vector<int>{1, -1, -1}));
  EXPECT_EQ(foretold(order, {0, 2, 1}), (std::vector<int>{2, 1, -1}));
}

}  // namespace
}  // namespace lockstep::parallel
