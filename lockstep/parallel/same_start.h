// Makes sure that all workers have the same model, and gives all of them rank 0's values.
#pragma once

#include "lockstep/comm/communicator.h"
#include "lockstep/models/model.h"

namespace lockstep::parallel {

// Throws ConfigError that names the first parameter or buffer whose name, sizes or type differ from rank 0's.
// Collective; purpose control.
void require_same_shapes(comm::Communicator& communicator, const models::Model& model);

// Parameters (purpose parameter) and buffers (purpose buffer) of rank 0 to every rank. Collective.
void broadcast_state(comm::Communicator& communicator, const models::Model& model);

}  // namespace lockstep::parallel
