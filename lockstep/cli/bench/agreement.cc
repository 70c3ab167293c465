#include "lockstep/cli/bench/agreement.h"

#include <algorithm>

namespace lockstep::cli {

Agreement::Agreement(comm::Communicator& communicator)
    : communicator_(communicator), memory_(communicator.allocate(kMostNumbers * sizeof(double))) {}

std::vector<double> Agreement::combine(std::vector<double> numbers, comm::ReduceOp op) {
  for (std::size_t done = 0; done < numbers.size(); done += kMostNumbers)
    combine_piece(numbers.data() + done, std::min(kMostNumbers, numbers.size() - done), op);
  return numbers;
}

void Agreement::combine_piece(double* numbers, std::size_t count, comm::ReduceOp op) {
  const comm::Buffer mine = comm::host_buffer(numbers, count, comm::ElementType::f64);
  const comm::Buffer shared = memory_.buffer(comm::ElementType::f64).part(0, mine.bytes);
  communicator_.copy(shared, mine);
  communicator_.run(comm::all_reduce(shared, op, comm::Purpose::metric));
  communicator_.copy(mine, shared);
}

}  // namespace lockstep::cli
