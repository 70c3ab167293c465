// Which of its two buffers a rank's part in an operation touches, and whether they touch each other.
#pragma once

#include "lockstep/comm/operation.h"

namespace lockstep::comm {

// Whether this rank's output buffer is written by the operation.
bool writes_output(const Operation& operation, int rank);
// Whether this rank's input buffer is read by the operation.
bool reads_input(const Operation& operation, int rank);

// Whether they have bytes in common.
bool overlap(const Buffer& one, const Buffer& other);

}  // namespace lockstep::comm
