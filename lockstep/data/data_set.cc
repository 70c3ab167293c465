#include "lockstep/data/data_set.h"

#include <fmt/core.h>

#include <array>

#include "lockstep/base/error.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_resolve.h"

namespace lockstep::data {
namespace {

using LoadFunction = SampleSet (*)(const SetRequest&);

// One line for each entry of the catalogue; a test compares the two.
constexpr std::array<std::pair<std::string_view, LoadFunction>, 9> kLoaders = {{
    {"mnist", load_mnist},
    {"fashion-mnist", load_mnist},
    {"cifar10", load_cifar10},
    {"driving", load_driving},
    {"images", load_images},
    {"folder", load_folder},
    {"digits", draw_digits},
    {"road", draw_road},
    {"texture", draw_texture},
}};

LoadFunction loader_named(std::string_view name) {
  for (const auto& [known, load] : kLoaders) {
    if (known == name) return load;
  }
  throw base::ConfigError(fmt::format("data set '{}' is in the catalogue and cannot be loaded.", name));
}

std::filesystem::path directory_of(const record::DataEntry& entry, const LoadRequest& request) {
  switch (entry.source) {
    case record::Source::files:
      return find_set(entry, request.data_dir);
    case record::Source::users_path:
      return record::split_data_name(request.data).path;
    case record::Source::procedural:
      break;
  }
  return {};
}

void check_directory(const record::DataEntry& entry, const std::filesystem::path& directory) {
  if (entry.source != record::Source::users_path || std::filesystem::is_directory(directory)) return;
  throw base::DataError(fmt::format("{} is not a directory; {}.", directory.string(), entry.how_to_get));
}

}  // namespace

std::shared_ptr<const SampleSet> load_set(const LoadRequest& request) {
  const record::DataEntry& entry = record::data_entry(request.data);
  SetRequest details;
  details.entry = &entry;
  details.directory = directory_of(entry, request);
  check_directory(entry, details.directory);
  details.split = request.split;
  details.input = request.input.height > 0 ? request.input : entry.shape;
  details.seed = request.seed;
  details.samples = request.samples;
  auto set = std::make_shared<SampleSet>(loader_named(entry.name)(details));
  set->origin = details.directory.empty() ? request.data : details.directory.string();
  if (request.samples) set->keep_first(*request.samples);
  return set;
}

LoadRequest load_request(const record::RunSpec& spec, Split split) {
  const auto& samples = split == Split::train ? spec.train_samples : spec.val_samples;
  LoadRequest request;
  request.data = spec.data;
  request.split = split;
  if (spec.data_dir) request.data_dir = *spec.data_dir;
  request.input = record::input_shape(spec);
  request.seed = static_cast<std::uint64_t>(spec.data_seed);
  if (samples) request.samples = static_cast<std::size_t>(*samples);
  return request;
}

TransformOptions transform_options(const record::RunSpec& spec, Split split) {
  const record::DataEntry& entry = record::data_entry(spec.data);
  const std::string augment = spec.augment == "auto" ? std::string(entry.augmentation) : spec.augment;
  const bool train = split == Split::train;
  TransformOptions options;
  options.input = record::input_shape(spec);
  options.mean = entry.mean;
  options.deviation = entry.deviation;
  options.crop = train && augment.starts_with("crop");
  options.flip = train && augment.ends_with("flip");
  options.jitter = train && augment != "none";
  options.noise_sigma = static_cast<float>(spec.noise_sigma / 255);
  options.seed = static_cast<std::uint64_t>(spec.seed);
  return options;
}

SamplerOptions sampler_options(const record::RunSpec& spec, Split split, std::size_t samples, int rank) {
  SamplerOptions options;
  options.samples = samples;
  options.global_batch = static_cast<std::size_t>(record::batch_sizes(spec).global);
  options.world = record::processes_of(spec);
  options.rank = rank;
  options.seed = static_cast<std::uint64_t>(spec.seed);
  options.shuffle = split == Split::train && spec.shuffle != "none";
  options.same_every_epoch = spec.shuffle == "once";
  return options;
}

LoaderOptions loader_options(const record::RunSpec& spec, Split split) {
  LoaderOptions options;
  // The one loader of dp works for all replicas.
  const auto replicas = static_cast<int>(spec.workers) / record::processes_of(spec);
  options.threads = static_cast<int>(spec.loader_threads) * replicas;
  options.prefetch = static_cast<std::size_t>(spec.prefetch);
  options.fresh_each_epoch = split == Split::train;
  return options;
}

}  // namespace lockstep::data
