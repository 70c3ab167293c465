#include "lockstep/data/describe.h"

#include <array>
#include <nlohmann/json.hpp>

namespace lockstep::data {
namespace {

struct SampleCounts {
  std::string_view name;
  std::size_t train;
  std::size_t validation;
};

// As published, or as drawn when nothing else is asked for.
constexpr std::array<SampleCounts, 6> kCounts = {{{"mnist", 60000, 10000},
                                                  {"fashion-mnist", 60000, 10000},
                                                  {"cifar10", 50000, 10000},
                                                  {"digits", 10000, 2000},
                                                  {"road", 2000, 400},
                                                  {"texture", 1024, 128}}};

}  // namespace

SetDescription describe(const record::DataEntry& entry,
                        const std::optional<std::filesystem::path>& data_dir) {
  SetDescription description;
  description.name = entry.name;
  description.description = entry.description;
  description.task = record::name_of(entry.task);
  description.shape = entry.shape;
  description.classes = entry.classes;
  description.how_to_get = entry.how_to_get;
  if (const auto* counts = record::find_entry(std::span<const SampleCounts>(kCounts), entry.name)) {
    description.train_samples = counts->train;
    description.val_samples = counts->validation;
  }
  description.available = entry.source != record::Source::files;
  description.places = places_of(entry, data_dir);
  for (const Place& place : description.places) {
    if (!place.found || description.available) continue;
    description.available = true;
    description.directory = place.directory;
  }
  return description;
}

std::vector<SetDescription> describe_all(const std::optional<std::filesystem::path>& data_dir) {
  std::vector<SetDescription> all;
  for (const record::DataEntry& entry : record::data_entries()) all.push_back(describe(entry, data_dir));
  return all;
}

nlohmann::json to_json(const SetDescription& description) {
  nlohmann::json json = {
      {"name", description.name},
      {"description", description.description},
      {"task", description.task},
      {"shape", {description.shape.channels, description.shape.height, description.shape.width}},
      {"available", description.available},
      {"how_to_get", description.how_to_get}};
  if (description.classes > 0) json["classes"] = description.classes;
  if (description.train_samples) json["train_samples"] = *description.train_samples;
  if (description.val_samples) json["val_samples"] = *description.val_samples;
  if (!description.directory.empty()) json["directory"] = description.directory.string();
  json["looked_in"] = nlohmann::json::array();
  for (const Place& place : description.places) {
    json["looked_in"].push_back(
        {{"directory", place.directory.string()}, {"source", place.source}, {"found", place.found}});
  }
  return json;
}

}  // namespace lockstep::data
