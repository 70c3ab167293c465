// Loading a data set by its name, and what there is to say about each. The entry point of this module.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "lockstep/data/loader.h"
#include "lockstep/data/search.h"
#include "lockstep/data/sets/sets.h"
#include "lockstep/record/spec.h"

namespace lockstep::data {

struct LoadRequest {
  std::string data;  // "mnist", "folder:PATH"
  Split split = Split::train;
  std::optional<std::filesystem::path> data_dir;
  ImageShape input;  // zeros: the set's own
  std::uint64_t seed = 1;
  std::optional<std::size_t> samples;
};

// Finds and reads the set. Throws ConfigError for an unknown name and DataError for everything about its
// files.
std::shared_ptr<const SampleSet> load_set(const LoadRequest& request);

// What a spec asks of this module.
LoadRequest load_request(const record::RunSpec& spec, Split split);
TransformOptions transform_options(const record::RunSpec& spec, Split split);
SamplerOptions sampler_options(const record::RunSpec& spec, Split split, std::size_t samples, int rank);
LoaderOptions loader_options(const record::RunSpec& spec, Split split);

}  // namespace lockstep::data
