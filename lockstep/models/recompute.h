// Activation checkpointing: which units drop what forward computed and compute it again in backward.
//
// A *block* (a unit with children that is not a mere chain: a residual block, a transformer's, a fire module)
// is dropped as a whole. A chain of plain layers is dropped in segments of about the square root of its
// length: longer ones would need more memory when they are computed again, shorter ones keep more between
// them. What stands beside (the first convolution of a ResNet, a head) is kept.
#pragma once

#include <cstddef>

#include "lockstep/models/model.h"

namespace lockstep::models {

// Blocks and segments that are computed twice from now on. Throws ConfigError for a model whose inside cannot
// be seen, and for one that has neither block nor chain.
std::size_t recompute_activations(Model& model);

}  // namespace lockstep::models
