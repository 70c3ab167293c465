// Words computed from figures. A sentence knows the fields it rests on, so it can be checked, and so that it
// changes when they do.
#pragma once

#include <string>
#include <vector>

namespace lockstep::report {

// A field of a record (or something computed from some) at a cell, and what it was.
struct Evidence {
  std::string field;  // "steps.split_seconds.exposed_comm"
  std::string cell;
  std::string value;  // with its unit, as it was used
};

struct Sentence {
  std::string finding;  // "communication-bound", "data-bound", ...: what it says, for tests and programs
  std::string text;
  std::vector<Evidence> rests_on;
};

struct Paragraph {
  std::string question;  // empty: what was not asked
  std::vector<Sentence> sentences;
};

}  // namespace lockstep::report
