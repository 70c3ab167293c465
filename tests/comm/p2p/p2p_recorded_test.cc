// Operations of p2p that are part of a CUDA graph, repeated between others that are not: ranks stay in step
// however many meetings either has, and what they wait for is told in every run.
#include <gtest/gtest.h>

#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_graph.h"
#include "tests/comm/cuda/device_support.h"
#include "tests/comm/p2p/p2p_ways.h"

namespace lockstep::testing {
namespace {

using comm::ElementType;
using comm::Purpose;
using comm::ReduceOp;
using device::cuda::Event;
using device::cuda::Graph;
using device::cuda::Stream;

// The place in a recording after which an operation becomes part of it.
class Point : public comm::Pending {
 public:
  Point(cudaStream_t stream, Graph& graph) : graph_(&graph) { event_.record(stream); }
  bool done() const override { return false; }
  void wait() override {}
  void* device_event() const override { return event_.get(); }
  void* recording() const override { return graph_; }

 private:
  Event event_;
  Graph* graph_;
};

class P2pRecorded : public ::testing::TestWithParam<P2pCase> {};

TEST_P(P2pRecorded, OperationsStayInStepWithOthersBetweenTheirRuns) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam().world, [](Rank& self) {
    const auto communicator = open_waiting(self, GetParam().waiting);
    const device::cuda::DeviceScope scope(self.group.local_rank % device::cuda::count_devices().count);
    constexpr std::size_t kSmall = 1000, kLarge = 600'000;
    comm::Allocation memory = communicator->allocate((kSmall + kLarge) * sizeof(std::int64_t));
    const comm::Buffer all = memory.buffer(ElementType::i64);
    std::vector<std::int64_t> values(kSmall + kLarge, 1);
    const comm::Buffer host = comm::host_buffer(values.data(), values.size(), ElementType::i64);
    communicator->copy(all, host);
    const comm::Buffer small = all.part(0, kSmall * sizeof(std::int64_t));
    const comm::Buffer large = all.part(small.bytes, kLarge * sizeof(std::int64_t));

    Stream main = Stream::make();
    Graph graph(main.get());
    int told = 0;
    communicator->queue().wait_for(comm::Work(std::make_shared<Point>(main.get(), graph)));
    comm::Work last;
    for (const comm::Buffer& each : {small, large, small})
      last = communicator->start(comm::all_reduce(each, ReduceOp::sum, Purpose::gradient),
                                 [&told](const measure::Movement& movement) {
                                   check(movement.peer_wait <= movement.busy, "the figures make no sense");
                                   ++told;
                                 });
    main.wait_for(static_cast<cudaEvent_t>(last.pending()->device_event()));
    graph.end();

    constexpr int kRuns = 6;
    std::int64_t small_expected = 1, large_expected = 1;
    for (int run = 0; run < kRuns; ++run) {
      graph.run(main.get());
      small_expected *= self.group.world * self.group.world;
      large_expected *= self.group.world;
      if (run % 3 == 1) continue;  // two runs behind each other, and one operation of its own between others
      const comm::Work own = communicator->start(comm::all_reduce(small, ReduceOp::max, Purpose::gradient));
      main.wait_for(static_cast<cudaEvent_t>(own.pending()->device_event()));
    }
    communicator->queue().drain();
    check(told == 3 * kRuns, "not every operation of every run was told of");
    communicator->copy(host, all);
    for (std::size_t i = 0; i < values.size(); ++i)
      check(values[i] == (i < kSmall ? small_expected : large_expected),
            "a sum of repeated operations is wrong");
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, P2pRecorded, ::testing::ValuesIn(p2p_cases({2, 4})), name_of_p2p_case);

}  // namespace
}  // namespace lockstep::testing
