// One rank of a test of the mpi backend, started by mpirun: runs the scenario it is given and ends with 0
// when everything it checked holds.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/mpi/mpi_collectives.h"
#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/registry.h"
#include "lockstep/comm/session.h"
#include "tests/support/disagreements.h"
#include "tests/support/exact_cases.h"
#include "tests/support/ranks.h"

namespace lockstep::testing {
namespace {

using comm::Communicator;
using comm::ElementType;
using comm::Operation;
using comm::ReduceOp;

comm::Group group_from_mpirun() {
  const auto number = [](const char* name) {
    return static_cast<int>(base::environment_integer(name).value_or(0));
  };
  return {number("OMPI_COMM_WORLD_RANK"), number("OMPI_COMM_WORLD_SIZE"),
          number("OMPI_COMM_WORLD_LOCAL_RANK"), number("OMPI_COMM_WORLD_LOCAL_SIZE"), "testhost"};
}

void all_collectives_are_exact(Communicator& communicator) {
  for (const ExactCase& test : exact_cases(communicator.group().world, full_matrix()))
    run_exact_case(test, communicator);
}

void huge_tensors_are_exact(Communicator& communicator) {
  for (const ExactCase& test : huge_cases(full_matrix())) run_exact_case(test, communicator);
}

// The same collectives when no more than 1000 elements fit into one call.
void pieces_are_exact(Communicator& communicator) {
  comm::MpiGroup mpi;
  mpi.comm = MPI_COMM_WORLD;
  mpi.rank = communicator.group().rank;
  mpi.world = communicator.group().world;
  mpi.most_elements = 1000;
  for (ExactCase test : exact_cases(mpi.world, false)) {
    if (test.size == CaseSize::large) test.size = CaseSize::prime;
    run_exact_case(test, mpi.rank, mpi.world,
                   [&](const Operation& operation) { comm::run_mpi(mpi, operation); });
  }
}

void split_and_duplicate_work(Communicator& communicator) {
  const int rank = communicator.group().rank;
  const auto part = communicator.split(rank == 4 ? -1 : rank % 2, -rank);
  const auto copy = communicator.duplicate();
  check((part == nullptr) == (rank == 4), "a negative colour has no group");
  int sum = 1;
  copy->run(
      comm::all_reduce(comm::host_buffer(&sum, 1, ElementType::i32), ReduceOp::sum, comm::Purpose::control));
  check(sum == communicator.group().world, "the duplicate has all ranks");
  if (part == nullptr) return;
  sum = rank;
  part->run(
      comm::all_reduce(comm::host_buffer(&sum, 1, ElementType::i32), ReduceOp::sum, comm::Purpose::control));
  check(sum == (rank % 2 == 0 ? 0 + 2 : 1 + 3), "the part has its ranks only");
  check(part->group().rank == (rank < 2 ? 1 : 0), "a lower key comes first");
}

void many_are_in_flight_on_two_channels(Communicator& communicator) {
  const auto other = communicator.duplicate();
  const auto world = static_cast<float>(communicator.group().world);
  std::vector<std::vector<float>> tensors(16, std::vector<float>(50021, 1.0F));
  std::vector<comm::Work> works;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    works.push_back(
        (i % 2 == 0 ? communicator : *other)
            .start(comm::all_reduce(comm::host_buffer(tensors[i].data(), tensors[i].size(), ElementType::f32),
                                    ReduceOp::sum, comm::Purpose::gradient),
                   {}));
  for (const comm::Work& work : works) work.wait();
  for (const auto& tensor : tensors)
    for (const float value : tensor) check(value == world, "a sum is wrong");
}

void a_late_peer_is_peer_wait(Communicator& communicator) {
  std::vector<float> data(1 << 18);
  const Operation operation = comm::all_reduce(comm::host_buffer(data.data(), data.size(), ElementType::f32),
                                               ReduceOp::sum, comm::Purpose::gradient);
  communicator.run(operation);
  communicator.run(comm::barrier());
  const bool late = communicator.group().rank == 1;
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const measure::Movement movement = communicator.run(operation);
  check(movement.estimated, "MPI's bytes are estimated");
  check(movement.peer_wait <= movement.busy, "peer wait is part of busy");
  check(late ? movement.peer_wait < std::chrono::milliseconds(100)
             : movement.peer_wait > std::chrono::milliseconds(250),
        fmt::format("peer wait is {} ns", movement.peer_wait.count()));
}

using Scenario = std::function<void(Communicator&)>;
const std::map<std::string, Scenario>& scenarios() {
  static const std::map<std::string, Scenario> all = {{"collectives", all_collectives_are_exact},
                                                      {"huge", huge_tensors_are_exact},
                                                      {"pieces", pieces_are_exact},
                                                      {"split", split_and_duplicate_work},
                                                      {"in-flight", many_are_in_flight_on_two_channels},
                                                      {"peer-wait", a_late_peer_is_peer_wait}};
  return all;
}

// As one rank of a run, so that the others' positions are compared.
int disagree(const std::string& name) {
  const auto all = disagreements();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Disagreement& one) { return one.name == name; });
  const comm::Registry registry(base::plugin_directory());
  comm::SessionOptions options;
  options.timeout = std::chrono::seconds(1);
  options.meeting_directory = std::filesystem::temp_directory_path();
  return comm::run_session(comm::find_identity({}).value(), registry, options, [&](comm::Session& session) {
    const auto communicator = session.open("mpi", {});
    run_disagreement(*communicator, *found);
  });
}

void run(const std::string& scenario) {
  // The backend needs no store: mpirun has introduced the ranks to each other.
  FileStore store("/nonexistent");
  const comm::PluginBackend backend("mpi", base::plugin_directory() / "backend_mpi.so");
  const auto communicator = backend.open(group_from_mpirun(), store, {});
  scenarios().at(scenario)(*communicator);
}

}  // namespace
}  // namespace lockstep::testing

int main(int argc, char** argv) {
  try {
    if (argc > 2) return lockstep::testing::disagree(argv[2]);
    lockstep::testing::run(argc > 1 ? argv[1] : "collectives");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
