// Which parameters of a model are gathered together. A *layer* is a unit with everything below it, as large
// as can be without being more than an eighth of the model: then what is gathered at a time is little, and no
// message is smaller than it must be. Units of up to 64 KiB are not cut further. A unit that is cut into
// its children may have parameters of its own: they are a layer too.
//
// Trained and frozen parameters never share a layer, for only the former have gradients.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/models/gradient_slot.h"
#include "lockstep/models/unit.h"

namespace lockstep::parallel {

struct Layer {
  models::Unit* unit = nullptr;  // its forward and backward use these parameters, and nothing else does
  bool trained = false;
  std::vector<models::NamedTensor> parameters;  // those of a multiple of 16 bytes first, then the others
  std::vector<std::shared_ptr<models::GradientSlot>> slots;  // of the same parameters
};

// In the order of the tree. Every parameter is in one of them; all have slots.
std::vector<Layer> choose_layers(models::Unit& root);

}  // namespace lockstep::parallel
