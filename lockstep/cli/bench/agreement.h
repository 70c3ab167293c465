// Lets the ranks of a bench agree on numbers, over a communicator that is measured anyway.
#pragma once

#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::cli {

class Agreement {
 public:
  // Collective. The communicator must outlive this.
  explicit Agreement(comm::Communicator& communicator);

  // Collective: every rank gets, at each place, the largest (or the sum) of all ranks' numbers.
  std::vector<double> largest(std::vector<double> numbers) {
    return combine(std::move(numbers), comm::ReduceOp::max);
  }
  double sum(double number) { return combine({number}, comm::ReduceOp::sum).front(); }

 private:
  static constexpr std::size_t kMostNumbers = 512;
  std::vector<double> combine(std::vector<double> numbers, comm::ReduceOp op);
  void combine_piece(double* numbers, std::size_t count, comm::ReduceOp op);

  comm::Communicator& communicator_;
  comm::Allocation memory_;
};

}  // namespace lockstep::cli
