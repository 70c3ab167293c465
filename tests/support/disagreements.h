// Two ranks that are not in the same operation: the ways in which that can be, and what must be said.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::testing {

struct Disagreement {
  std::string name;          // count, type, collective
  std::string first_words;   // of what rank 0 is in
  std::string second_words;  // of what the others are in
};

std::vector<Disagreement> disagreements();

// Runs one all-reduce on which all agree, and then the one on which they do not. Throws what comes of it.
void run_disagreement(comm::Communicator& communicator, const Disagreement& disagreement);

inline std::ostream& operator<<(std::ostream& stream, const Disagreement& disagreement) {
  return stream << disagreement.name;
}

}  // namespace lockstep::testing
