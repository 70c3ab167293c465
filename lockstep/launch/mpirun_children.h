// Which of mpirun's children is which rank, as the kernel knows it: before they have said a word themselves.
#pragma once

#include <sys/types.h>

#include <map>

namespace lockstep::launch {

// Process numbers by rank. A child that mpirun has not made a rank yet is not among them; none are where
// /proc does not show children.
std::map<int, pid_t> children_by_rank(pid_t mpirun);

}  // namespace lockstep::launch
