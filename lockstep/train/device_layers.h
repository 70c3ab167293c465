// The layers of a GPU. Defined by cuda/ or by a stub.
#pragma once

#include <memory>

#include "lockstep/models/layer_factory.h"

namespace lockstep::train {

std::unique_ptr<models::LayerFactory> device_layers(const models::LayerOptions& options);

}  // namespace lockstep::train
