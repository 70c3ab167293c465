// The data sets, one file each. A loader reads one split of one set into memory and checks everything it
// reads.
#pragma once

#include <filesystem>
#include <optional>

#include "lockstep/data/sample_set.h"
#include "lockstep/record/catalogue_data.h"

namespace lockstep::data {

enum class Split { train, validation };

struct SetRequest {
  const record::DataEntry* entry = nullptr;
  std::filesystem::path directory;  // of the set's files; empty for procedural ones
  Split split = Split::train;
  ImageShape input;        // what the model is fed: sets of files of any size are resized to it at once
  std::uint64_t seed = 1;  // of procedural ones
  std::optional<std::size_t> samples;
};

SampleSet load_mnist(const SetRequest& request);  // mnist, fashion-mnist
SampleSet load_cifar10(const SetRequest& request);
SampleSet load_driving(const SetRequest& request);
SampleSet load_images(const SetRequest& request);
SampleSet load_folder(const SetRequest& request);
SampleSet draw_digits(const SetRequest& request);
SampleSet draw_road(const SetRequest& request);
SampleSet draw_texture(const SetRequest& request);

// Throws DataError for the first label that is not in [0, classes), naming the sample.
void check_labels(const SampleSet& set, const std::string& name);

// Decodes files on all cores this process has, keeping their order; each is resized to the given size.
ImageStore read_resized(const std::vector<std::filesystem::path>& files, int height, int width);

}  // namespace lockstep::data
