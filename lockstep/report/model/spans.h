// The spans of a step by name, in the order in which they happen.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "lockstep/record/figures.h"

namespace lockstep::report {

struct Span {
  const char* field;  // of the record
  const char* words;
  std::optional<double> record::SplitSeconds::*member;
};

inline constexpr std::array<Span, 7> kSpans = {{
    {"data", "waiting for data", &record::SplitSeconds::data},
    {"input", "moving input", &record::SplitSeconds::input},
    {"forward", "forward", &record::SplitSeconds::forward},
    {"backward", "backward", &record::SplitSeconds::backward},
    {"exposed_comm", "exposed communication", &record::SplitSeconds::exposed_comm},
    {"optimizer", "optimiser", &record::SplitSeconds::optimizer},
    {"other", "other", &record::SplitSeconds::other},
}};

inline constexpr std::array<std::string_view, 8> kPurposes = {"input",  "output",     "gradient", "parameter",
                                                              "buffer", "statistics", "metric",   "control"};

inline constexpr std::array<std::string_view, 7> kMemoryUses = {
    "parameters", "gradients", "buckets", "optimizer", "activations", "communication", "other"};

}  // namespace lockstep::report
