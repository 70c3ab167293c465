// What a model is fed: the shape of an input after resizing and after grey became three channels.
#pragma once

#include <optional>
#include <vector>

#include "lockstep/record/catalogue_entry.h"
#include "lockstep/record/catalogue_rules.h"
#include "lockstep/record/spec.h"

namespace lockstep::record {

// The spec's image size, else the data's own size or the model's smallest, whichever is larger. The spec must
// have passed validation.
ImageShape input_shape(const RunSpec& spec);

// The model's options with their defaults, as the spec sets them.
Options model_options(const RunSpec& spec);

// What is wrong with the image size and the model's options of a spec.
std::vector<Problem> input_problems(const RunSpec& spec);

}  // namespace lockstep::record
