// How long a run will take, roughly: as long as the same spec took before, else from its arithmetic.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/record/spec.h"

namespace lockstep::cli {

class RunEstimate {
 public:
  explicit RunEstimate(const std::filesystem::path& store);

  // Seconds of one run of a resolved spec on a machine with that many cores.
  double seconds_of(const record::RunSpec& spec, const std::string& hash, int cores);

 private:
  struct ModelCost {
    double training_flops = 0;  // of one sample
    double parameters = 0;
    double pixels = 0;  // that the arithmetic was counted for
  };
  const std::map<std::string, ModelCost>& costs();

  std::map<std::string, std::vector<double>> earlier_;  // by the spec's hash
  std::optional<std::map<std::string, ModelCost>> costs_;
};

// Steps of a run whose length its spec tells; of one epoch where a target or a time decides.
double steps_of(const record::RunSpec& spec);

}  // namespace lockstep::cli
