// One collective on one rank with inputs whose results are exact in every type, and the check of the result.
//
// Element i of rank r's tensor is (i + r) mod 3 + 1: sums over 8 ranks stay below 25, which u8, f16 and bf16
// hold exactly. For `mean` every rank gives n (i mod 3 + 1), so that the division is exact too.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::testing {

// The sizes the issue asks for, in bytes a rank: none, one element, a prime count, 1 MiB and one element,
// and 64 MiB.
enum class CaseSize { none, one, prime, large, huge };

struct ExactCase {
  comm::Collective collective;
  comm::ElementType type = comm::ElementType::f32;
  comm::ReduceOp op = comm::ReduceOp::sum;
  CaseSize size = CaseSize::one;
  bool in_place = false;  // where the collective knows the difference
  bool unequal = false;   // parts of 0, 1, 2, 0, 1, 2, ... times the count
  int root = 0;
  bool asynchronous = false;  // started and awaited

  std::size_t count() const;
  std::string describe(int world) const;
};

// Builds this rank's buffers, calls `run` with the operation and throws when the output is not exact.
// `send` becomes a circle: every rank sends to the next and receives from the one before.
void run_exact_case(const ExactCase& test, int rank, int world,
                    const std::function<void(const comm::Operation&)>& run);

// The same over a communicator, asynchronous where the case says so. Collective.
void run_exact_case(const ExactCase& test, comm::Communicator& communicator);

// Every collective with every type and size; of the reductions, placements, kinds of parts and ways to wait
// one each, so that each two of them meet in some case; the whole product when `full`.
std::vector<ExactCase> exact_cases(int world, bool full);

// 64 MiB of f32 on every rank, with root 1: every collective that moves something when `full`, else
// all-reduce.
std::vector<ExactCase> huge_cases(bool full);

}  // namespace lockstep::testing
