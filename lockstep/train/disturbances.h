// What tests do to a run on purpose, asked for by environment variables (docs/measuring.md), so that the real
// program can be shown to measure and to notice it:
//
//   LOCKSTEP_DELAY="loader=50ms@1,compute=50ms@1,link=50ms,first-bucket=20ms"
//     loader        in preparing each batch
//     compute       in each forward
//     link          in each operation on gradients
//     first-bucket  in the first operation on gradients of each step
//   LOCKSTEP_FLIP="7@1"
//     one bit of a parameter is flipped after 7 steps
//   LOCKSTEP_WITHHOLD="conv1.weight@1"
//     the rank hangs in its backward when it comes to the gradient of that parameter
//   LOCKSTEP_MEASURE_TURN="50"
//     measuring rests in every second 50 steps, so that one run tells what it costs (not in dp's replicas)
//
// `@R` confines a disturbance to rank R.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/comm/communicator.h"
#include "lockstep/models/model.h"
#include "lockstep/parallel/gradient_tap.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::train {

// Those of one rank.
struct Disturbances {
  base::Nanoseconds loader{0};
  base::Nanoseconds compute{0};
  base::Nanoseconds link{0};
  base::Nanoseconds first_bucket{0};
  std::optional<std::int64_t> flip_after;  // steps
  std::optional<std::string> withheld;     // the parameter whose gradient never comes
  std::int64_t measure_turn = 0;           // steps; 0: measuring never rests
};

// Throws ConfigError that names the variable and what it takes. Empty texts ask for nothing.
Disturbances parse_disturbances(const std::string& delays, const std::string& flip, int rank,
                                const std::string& withheld = {});
// From the environment.
Disturbances disturbances_of(int rank);

// Around what a backend opened, where an operation is to be delayed; else it comes back as it is.
std::unique_ptr<comm::Communicator> slow_down(std::unique_ptr<comm::Communicator> opened,
                                              const Disturbances& disturbances);
// Sleeps in the forward of `model`; null where nothing is asked for. Must outlive the model's passes.
std::unique_ptr<models::UnitHooks> slow_down(models::Model& model, const Disturbances& disturbances);
// Never lets the backward of `model` come past a gradient; null where nothing is asked for. Must be made
// before anything else that waits for gradients. Throws ConfigError when the model has no such parameter.
std::unique_ptr<parallel::GradientTap> withhold(const models::Model& model, const Disturbances& disturbances);
// Flips the lowest bit of the first value.
void flip_a_bit(std::span<const parallel::Updatable> updatables);

}  // namespace lockstep::train
