// The data sets there are: what they hold, where they lie, and how their values are normalised.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "lockstep/record/catalogue_entry.h"

namespace lockstep::record {

enum class Source {
  files,       // published files below one directory
  users_path,  // NAME:PATH, the user's own directory
  procedural,  // drawn from a seed; needs no file
};

struct DataEntry {
  std::string_view name;
  Task task;
  Source source;
  ImageShape
      shape;    // of a sample; where files of any size are resized, the size when nothing else is asked for
  int classes;  // 0 where there are none, or the files decide
  // Input = (pixel / 255 - mean) / deviation, by channel. The published figures of the published sets.
  std::array<float, 3> mean;
  std::array<float, 3> deviation;
  std::string_view augmentation;  // what `augment: auto` does: "none", "crop", "flip" or "crop-flip"
  std::string_view directory;     // below a data directory; empty where there is none
  std::string_view description;
  std::string_view how_to_get;
};

std::span<const DataEntry> data_entries();

// "folder:/some/path" in its parts; the path is empty where none is given.
struct DataName {
  std::string name;
  std::string path;
};
DataName split_data_name(std::string_view text);

// The entry of "mnist" or "folder:PATH". Throws ConfigError: an unknown name (with a suggestion), a path that
// is missing or one too many.
const DataEntry& data_entry(std::string_view text);

}  // namespace lockstep::record
