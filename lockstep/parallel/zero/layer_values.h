// The parameters of a model, divided: every worker keeps its shard of each layer, and a layer is gathered
// before its forward, again before its backward, and freed after each. While a layer computes, the next one
// is fetched.
//
// Gathers and LayerGradients' reductions use one communicator, and are started in the hooks of units and of
// gradients: all on the thread that runs the pass (ComputeQueue::keep_backward_here), in the order that the
// model and VisitOrder give, which no clock has a part in. So the order is the same on all ranks.
#pragma once

#include <map>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/models/hooks.h"
#include "lockstep/parallel/compute_queue.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/parallel/zero/flat_parameters.h"
#include "lockstep/parallel/zero/layer_choice.h"
#include "lockstep/parallel/zero/shard.h"
#include "lockstep/parallel/zero/visit_order.h"

namespace lockstep::parallel {

class LayerValues : public models::UnitHooks {
 public:
  // `layers` outlive this object; the parameters are whole, and stay so until divide().
  LayerValues(const std::vector<Layer>& layers, const Surroundings& surroundings);
  LayerValues(const LayerValues&) = delete;
  LayerValues& operator=(const LayerValues&) = delete;

  // Takes this rank's shards out of the whole parameters and frees them. Collective the first time.
  void divide();
  // Makes all parameters whole until drop_all(); what runs in between gathers nothing. Collective.
  void gather_all();
  void drop_all();
  // `in_background`: gather ahead, while layers compute.
  void begin_pass(bool in_background);

  Shard shard(std::size_t layer) const;
  // This rank's elements of a layer: [shard.count].
  at::Tensor own_values(std::size_t layer) const;

  bool wants(const models::Unit& unit) const override { return layers_of_.count(&unit) != 0; }
  void before_forward(models::Unit& unit, const at::Tensor&) override { acquire(unit); }
  void after_forward(models::Unit& unit, const at::Tensor&) override { release(unit); }
  void before_backward(models::Unit& unit) override { acquire(unit); }
  void after_backward(models::Unit& unit) override { release(unit); }

 private:
  struct Entry {
    FlatParameters parameters;
    int users = 0;
    comm::Work arriving;
  };
  void allocate_shards();
  comm::Buffer own_buffer(std::size_t layer) const;
  comm::Operation gathering_of(std::size_t layer) const;
  void drop_unused();
  void start(std::size_t layer);
  void await(std::size_t layer);
  void acquire(models::Unit& unit);
  void release(models::Unit& unit);

  const std::vector<Layer>& layers_;
  Surroundings surroundings_;
  comm::Communicator& communicator_;
  std::map<const models::Unit*, std::vector<std::size_t>> layers_of_;
  std::vector<Entry> entries_;
  measure::Reservation reserved_;
  comm::Allocation shards_;           // of all layers, one after another
  std::vector<std::size_t> offsets_;  // of each layer's shard there, in bytes
  VisitOrder order_;
  bool in_background_ = false;
  bool kept_whole_ = true;
};

}  // namespace lockstep::parallel
