#include "lockstep/record/catalogue_data.h"

#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::record {
namespace {

using Triple = std::array<float, 3>;
constexpr Triple kHalf = {0.5f, 0.5f, 0.5f};
constexpr Triple kQuarter = {0.25f, 0.25f, 0.25f};
// Restoration works on plain intensities in [0, 1]: PSNR is defined on them.
constexpr Triple kZero = {0, 0, 0};
constexpr Triple kOne = {1, 1, 1};

constexpr std::array<DataEntry, 9> kSets = {{
    {"mnist",
     Task::classification,
     Source::files,
     {1, 28, 28},
     10,
     {0.1307f, 0.1307f, 0.1307f},
     {0.3081f, 0.3081f, 0.3081f},
     "none",
     "mnist",
     "handwritten digits: 60,000 + 10,000 grey images",
     "lockstep data get mnist"},
    {"fashion-mnist",
     Task::classification,
     Source::files,
     {1, 28, 28},
     10,
     {0.2860f, 0.2860f, 0.2860f},
     {0.3530f, 0.3530f, 0.3530f},
     "none",
     "fashion-mnist",
     "articles of clothing: 60,000 + 10,000 grey images",
     "apt install dataset-fashion-mnist, or lockstep data get fashion-mnist"},
    {"cifar10",
     Task::classification,
     Source::files,
     {3, 32, 32},
     10,
     {0.4914f, 0.4822f, 0.4465f},
     {0.2470f, 0.2435f, 0.2616f},
     "crop-flip",
     "cifar-10-batches-bin",
     "small photographs of ten kinds: 50,000 + 10,000 colour images",
     "lockstep data get cifar10"},
    {"driving",
     Task::steering,
     Source::files,
     {3, 66, 200},
     0,
     kHalf,
     kQuarter,
     "none",
     "driving",
     "frames of a car's camera with the steering angle (Udacity's driving_log.csv and IMG/)",
     "record them with Udacity's simulator, or unpack its sample data, so that DIR/driving/driving_log.csv "
     "exists"},
    {"images",
     Task::restoration,
     Source::users_path,
     {3, 64, 64},
     0,
     kZero,
     kOne,
     "flip",
     "",
     "patches of the photographs (PNG, JPEG) in a directory, to be denoised: images:PATH",
     "name a directory of PNG or JPEG photographs: images:PATH"},
    {"folder",
     Task::classification,
     Source::users_path,
     {3, 64, 64},
     0,
     kHalf,
     kQuarter,
     "none",
     "",
     "the user's own images, a directory for each class: folder:PATH",
     "name a directory that has one directory of PNG or JPEG images for each class: folder:PATH"},
    {"digits",
     Task::classification,
     Source::procedural,
     {1, 28, 28},
     10,
     kHalf,
     kQuarter,
     "none",
     "",
     "digits drawn with a shaking pen; needs no file",
     "nothing to get: it is drawn from a seed"},
    {"road",
     Task::steering,
     Source::procedural,
     {3, 66, 200},
     0,
     kHalf,
     kQuarter,
     "none",
     "",
     "frames of a winding road with the angle that follows it; needs no file",
     "nothing to get: it is drawn from a seed"},
    {"texture",
     Task::restoration,
     Source::procedural,
     {3, 48, 48},
     0,
     kZero,
     kOne,
     "flip",
     "",
     "patches of gratings, discs and edges, to be denoised; needs no file",
     "nothing to get: it is drawn from a seed"},
}};

}  // namespace

std::span<const DataEntry> data_entries() {
  return kSets;
}

DataName split_data_name(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

const DataEntry& data_entry(std::string_view text) {
  const DataName parts = split_data_name(text);
  const DataEntry* entry = find_entry(data_entries(), parts.name);
  if (entry == nullptr) {
    const auto names = names_of(data_entries());
    throw base::ConfigError(fmt::format("there is no data set '{}'.{} There are {}.", parts.name,
                                        base::suggestion(parts.name, names), base::join(names, ", ")));
  }
  const bool takes_path = entry->source == Source::users_path;
  if (takes_path && parts.path.empty()) {
    throw base::ConfigError(fmt::format("data '{}' needs a directory: write {}:PATH.", text, entry->name));
  }
  if (!takes_path && text.find(':') != std::string_view::npos) {
    throw base::ConfigError(
        fmt::format("data '{}': {} takes no path; use --data-dir for where data sets lie, or folder:PATH for "
                    "your own images.",
                    text, entry->name));
  }
  return *entry;
}

}  // namespace lockstep::record
