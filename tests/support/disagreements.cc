#include "tests/support/disagreements.h"

namespace lockstep::testing {
namespace {

comm::Operation sum_of(std::vector<double>& memory, std::size_t count, comm::ElementType type) {
  return comm::all_reduce(comm::host_buffer(memory.data(), count, type), comm::ReduceOp::sum,
                          comm::Purpose::gradient);
}

// What the ranks other than 0 do instead.
comm::Operation other_operation(std::vector<double>& memory, const std::string& name) {
  using comm::ElementType;
  if (name == "count") return sum_of(memory, 900, ElementType::f32);
  if (name == "type") return sum_of(memory, 1000, ElementType::i32);
  return comm::broadcast(comm::host_buffer(memory.data(), 1000, ElementType::f32), 0,
                         comm::Purpose::parameter);
}

}  // namespace

std::vector<Disagreement> disagreements() {
  return {{"count", "of 1000 f32", "of 900 f32"},
          {"type", "of 1000 f32", "of 1000 i32"},
          {"collective", "all_reduce", "broadcast"}};
}

void run_disagreement(comm::Communicator& communicator, const Disagreement& disagreement) {
  std::vector<double> memory(1000);
  communicator.run(sum_of(memory, 10, comm::ElementType::f32));
  communicator.run(communicator.group().rank == 0 ? sum_of(memory, 1000, comm::ElementType::f32)
                                                  : other_operation(memory, disagreement.name));
  communicator.run(comm::barrier());  // a broadcast may end without the others
}

}  // namespace lockstep::testing
