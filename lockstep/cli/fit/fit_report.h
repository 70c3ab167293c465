// What `lockstep fit` found: a table with a line of advice, or JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lockstep/cli/console.h"
#include "lockstep/cli/fit/answer.h"
#include "lockstep/cli/fit/batch_search.h"
#include "lockstep/cli/fit/fit_options.h"

namespace lockstep::cli {

struct FitRow {
  Answer answer;
  SearchResult found;
  std::string refused;  // why the model cannot be trained so; empty where it can
};

std::string fit_text(const FitOptions& options, const std::vector<FitRow>& rows, const Console& console);
nlohmann::ordered_json fit_json(const FitOptions& options, const std::vector<FitRow>& rows);

// Which answer to take, in a sentence.
std::string advice(const std::vector<FitRow>& rows);

}  // namespace lockstep::cli
