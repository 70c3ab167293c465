// The models there are: what each is for, what images it takes, and its options.
#pragma once

#include <span>
#include <string_view>

#include "lockstep/record/catalogue_entry.h"

namespace lockstep::record {

struct ModelOption {
  std::string_view name;
  double value;  // when it is not given
  double least;
  std::string_view help;
};

struct ModelEntry {
  std::string_view name;
  Task task;
  int channels;          // what it takes; 0: as many as the data has
  int smallest_image;    // the side below which it cannot run
  int smallest_default;  // the side that smaller images are resized to when no image size is asked for
  int side_multiple;     // height and width must be multiples of it
  ImageShape fixed;      // the only input it takes; zeros when it adapts
  std::span<const ModelOption> options;
  std::string_view description;
};

// In the order in which tables show them.
std::span<const ModelEntry> model_entries();

// Whether the name is a user's TorchScript file rather than an entry: it ends in .pt or .pth.
bool is_model_file(std::string_view name);

// The entry of that name, or the one that stands for a user's file. Throws ConfigError with a suggestion.
const ModelEntry& model_entry(std::string_view name);

}  // namespace lockstep::record
