// *Scatter* and *gather*: rows of a batch from the first replica to all, and back. One object a replica; all
// call the same function at once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::parallel {

// The rows of a batch that are one replica's.
struct RowShare {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

// Contiguous shares that differ by one row at most; the first are the larger, as workers' shares are.
std::vector<RowShare> share_rows(std::int64_t rows, int replicas);

// What a row of a tensor looks like: all that a replica without rows has to know.
struct RowShape {
  std::vector<std::int64_t> sizes;  // of one row
  at::TensorOptions options;

  static RowShape of(const at::Tensor& rows);
  at::Tensor empty(std::int64_t count) const;                            // [count, sizes...]
  at::Tensor empty(std::int64_t count, const at::Device& device) const;  // the same elsewhere
  std::int64_t elements() const;                                         // of one row
};

class RowExchange {
 public:
  // `threaded`: every replica takes its own rows, at the same time; else the first sends to one after
  // another. `device`: where this replica's rows are.
  RowExchange(comm::Communicator& communicator, bool threaded, const at::Device& device = at::kCPU)
      : communicator_(communicator), threaded_(threaded), device_(device) {}

  // This replica's rows of `whole`, which counts on replica 0 only. There the rows are a view of it.
  at::Tensor scatter(const at::Tensor& whole, const RowShape& shape, const std::vector<RowShare>& shares,
                     measure::Purpose purpose);
  // All rows on replica 0; nothing at the others.
  at::Tensor gather(const at::Tensor& rows, const RowShape& shape, const std::vector<RowShare>& shares,
                    measure::Purpose purpose);

 private:
  int rank() const { return communicator_.group().rank; }
  at::Tensor take(const at::Tensor& whole, const RowShape& shape, const std::vector<RowShare>& shares,
                  measure::Purpose purpose);
  void send_in_turn(const at::Tensor& whole, const std::vector<RowShare>& shares, measure::Purpose purpose);

  comm::Communicator& communicator_;
  const bool threaded_;
  const at::Device device_;
};

}  // namespace lockstep::parallel
