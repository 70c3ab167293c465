// The gradients of one replica, and their *reduction* onto the first. One object a replica; all call
// reduce() at once.
//
// Plain: one reduce for each parameter, from where its gradient was made. Coalesced: gradients are put into
// pieces as they come, and one reduce adds up a piece.
#pragma once

#include <optional>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/models/gradient_slot.h"
#include "lockstep/models/model.h"
#include "lockstep/parallel/compute_queue.h"
#include "lockstep/parallel/dp/pieces.h"
#include "lockstep/parallel/gradient_tap.h"

namespace lockstep::parallel {

class ReplicaGradients {
 public:
  // `piece_bytes` unset: plain. Model and queue outlive this.
  ReplicaGradients(const models::Model& model, ComputeQueue& compute,
                   std::optional<std::uint64_t> piece_bytes);
  ~ReplicaGradients();
  ReplicaGradients(const ReplicaGradients&) = delete;
  ReplicaGradients& operator=(const ReplicaGradients&) = delete;

  // Gradients start from nothing.
  void forget();
  // To be called once after the step's last backward: what was not computed is zero.
  void complete();
  // Adds up all replicas' gradients on replica 0. The others' are used up.
  void reduce(comm::Communicator& communicator, measure::StepTimer& timer);

  const std::vector<models::NamedTensor>& parameters() const { return parameters_; }
  // Of the parameter of that number; whole after complete().
  const at::Tensor& gradient(std::size_t parameter) const { return places_[parameter]; }

 private:
  void give_places(std::optional<std::uint64_t> piece_bytes);
  void on_gradient(std::size_t parameter);
  void put_into_piece(std::size_t parameter);
  void complete_one(std::size_t parameter);
  std::size_t operations() const { return pieces_ ? pieces_->count() : places_.size(); }

  std::vector<models::NamedTensor> parameters_;  // that are trained
  models::Unit& root_;
  std::vector<std::shared_ptr<models::GradientSlot>> slots_;  // of the same parameters
  std::optional<Pieces> pieces_;                              // coalesced
  std::vector<at::Tensor> places_;                            // where each gradient is, or will be
  std::vector<bool> written_;                                 // coalesced: there is something in the place
  GradientTap tap_;                                           // last: it calls into what stands above
};

}  // namespace lockstep::parallel
