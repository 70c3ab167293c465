// One collective on one rank with inputs whose results are exact in every type, and the check of the result.
//
// Element i of rank r's tensor is (i + r) mod 3 + 1: sums over 8 ranks stay below 25, which u8, f16 and bf16
// hold exactly. For `mean` every rank gives n (i mod 3 + 1), so that the division is exact too.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/comm/operation.h"

namespace lockstep::testing {

// The sizes the issue asks for, in bytes a rank: none, one element, a prime count, 1 MiB and one element.
enum class CaseSize { none, one, prime, large };

struct CollectiveCase {
  comm::Collective collective;
  comm::ElementType type = comm::ElementType::f32;
  comm::ReduceOp op = comm::ReduceOp::sum;
  CaseSize size = CaseSize::one;
  bool in_place = false;  // where the collective knows the difference
  bool unequal = false;   // parts of 0, 1, 2, 0, 1, 2, ... times the count
  int root = 0;

  std::size_t count() const;
  std::string describe(int world) const;
};

// Builds this rank's buffers, calls `run` with the operation and throws when the output is not exact.
// `send` becomes a circle: every rank sends to the next and receives from the one before.
void run_case(const CollectiveCase& test, int rank, int world,
              const std::function<void(const comm::Operation&)>& run);

// Cases in which every collective meets every type, operation, size, placement, kind of parts and root at
// least once (each other combination of two values at least in some collective); the whole product when
// `full`.
std::vector<CollectiveCase> cases(int world, bool full);

}  // namespace lockstep::testing
