// The gradients of a model, divided. A layer's whole gradient exists from the moment its backward begins
// until it was reduce-scattered; what remains is this rank's shard of the sum. Two whole gradients are there
// at the most: one that is computed and one that is on its way.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/models/hooks.h"
#include "lockstep/parallel/gradient_tap.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/parallel/zero/layer_choice.h"
#include "lockstep/parallel/zero/shard.h"

namespace lockstep::parallel {

class LayerGradients : public models::UnitHooks {
 public:
  // `layers` outlive this object.
  LayerGradients(const std::vector<Layer>& layers, const Surroundings& surroundings);

  // `first` of its step: sums start from nothing. `in_background`: reduce while backward goes on.
  void begin_pass(bool first, bool in_background);
  // After backward: a gradient that was not computed is zero.
  void end_pass();
  // Returns when all sums are there.
  void finish();
  // This rank's elements of a trained layer's gradient: [shard.count].
  const at::Tensor& own_sum(std::size_t layer) const { return entries_[layer].sum; }

  bool wants(const models::Unit& unit) const override { return layers_of_.count(&unit) != 0; }
  void before_backward(models::Unit& unit) override;

 private:
  struct Entry {
    at::Tensor sum;                 // [shard]
    at::Tensor whole;               // [elements], while backward fills it
    std::vector<at::Tensor> views;  // of it, by parameter
    std::vector<bool> written, ready;
    std::size_t missing = 0;
    bool reduced = false;  // in this pass
  };
  // A whole gradient on its way.
  struct Flight {
    std::size_t layer;
    at::Tensor whole;
    at::Tensor more;  // [shard]: what is to be added to the sum; undefined where the sum itself is written
    comm::Work work;
  };
  struct Place {
    std::size_t layer, parameter;
  };

  static std::vector<Place> places_of(const std::vector<Layer>& layers);
  std::vector<at::Tensor> tapped() const;
  Shard shard(std::size_t layer) const;
  void prepare(std::size_t layer);
  void on_gradient(const Place& place);
  void take_gradient(const Place& place);
  void mark_ready(const Place& place);
  void reduce(std::size_t layer);
  void land_first();

  const std::vector<Layer>& layers_;
  Surroundings surroundings_;
  comm::Communicator& communicator_;
  std::map<const models::Unit*, std::vector<std::size_t>> layers_of_;  // trained ones only
  std::vector<Entry> entries_;
  std::deque<Flight> flights_;
  bool first_ = true;
  bool in_background_ = false;
  std::vector<Place> places_;  // of all trained parameters
  GradientTap tap_;            // last: it calls into what stands above
};

}  // namespace lockstep::parallel
