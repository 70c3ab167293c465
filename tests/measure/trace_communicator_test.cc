// Tests that the operations of real communicators reach the trace through the ledger.
#include <thread>

#include "lockstep/comm/local/local_backend.h"
#include "lockstep/comm/wrappers/recording.h"
#include "tests/measure/trace_fixture.h"

namespace lockstep::measure {
namespace {

constexpr int kRanks = 2;
constexpr int kElements = 3000;

// What a rank does: operations run and started, on two communicators.
void communicate(std::unique_ptr<comm::Communicator> opened, Ledger& ledger) {
  comm::RecordingCommunicator first(std::move(opened), ledger);
  const auto second = first.duplicate();
  std::vector<double> values(kElements, 1);
  const comm::Buffer buffer = comm::host_buffer(values.data(), values.size(), comm::ElementType::f64);
  for (int i = 0; i < 20; ++i)
    first.start(comm::all_reduce(buffer, comm::ReduceOp::sum, Purpose::gradient), {});
  first.run(comm::barrier());
  second->run(comm::broadcast(buffer, 0, Purpose::parameter));
}

TEST_F(TraceTest, OperationsOfCommunicatorsAreOnTracksOfTheirOwn) {
  auto group = comm::open_local_group(kRanks, {});
  std::vector<std::filesystem::path> fragments;
  for (int rank = 0; rank < kRanks; ++rank) fragments.push_back(file(std::to_string(rank)));
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      TraceOptions options;
      options.rank = static_cast<int>(rank);
      TraceRecorder recorder(options);
      Ledger ledger;
      ledger.listen(recorder);
      communicate(std::move(group[rank]), ledger);
      recorder.write_fragment(fragments[rank]);
    });
  for (std::thread& thread : threads) thread.join();

  const auto trace = merged(fragments);
  const auto tracks = slices_of(trace);
  ASSERT_EQ(tracks.size(), 2u * kRanks);
  expect_no_overlap(tracks);
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(tracks.at({rank, 1}).size(), 21u);
    const auto& arguments = tracks.at({rank, 1})[0].at("args");
    EXPECT_EQ(arguments.at("dtype"), "Double");
    EXPECT_EQ(arguments.at("In msg nelems"), kElements);
    EXPECT_EQ(arguments.at("Group size"), kRanks);
    EXPECT_EQ(arguments.at("payload_bytes"), 8 * kElements);
    EXPECT_EQ(tracks.at({rank, 2}).at(0).at("args").at("Process Group Name"), "1");
    EXPECT_EQ(name_given(trace, "thread_name", rank, 2), "communicator 1 (local)");
  }
}

}  // namespace
}  // namespace lockstep::measure
