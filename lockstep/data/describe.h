// What `lockstep data` says about each set, without reading more of it than its headers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/data/image.h"
#include "lockstep/data/search.h"

namespace lockstep::data {

struct SetDescription {
  std::string name;
  std::string description;
  std::string task;
  ImageShape shape;
  int classes = 0;                           // 0: none, or the files decide
  std::optional<std::size_t> train_samples;  // of a published or procedural set
  std::optional<std::size_t> val_samples;
  bool available = false;           // can be used now
  std::filesystem::path directory;  // where it was found
  std::vector<Place> places;        // where it was looked for
  std::string how_to_get;
};

SetDescription describe(const record::DataEntry& entry, const std::optional<std::filesystem::path>& data_dir);
std::vector<SetDescription> describe_all(const std::optional<std::filesystem::path>& data_dir);
nlohmann::json to_json(const SetDescription& description);

}  // namespace lockstep::data
