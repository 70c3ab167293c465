// Horovod's way of data parallel training, after its protocol: as in ddp every worker has a replica and all
// gradients are added up while backward goes on, but nothing fixes in advance which are sent together, or
// when. Each worker tells a background thread what it has; the threads find out in cycles, through rank 0,
// what every worker has, fuse that and reduce it.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/parallel/buffer_sync.h"
#include "lockstep/parallel/gradient_tap.h"
#include "lockstep/parallel/horovod/engine.h"
#include "lockstep/parallel/horovod/fused_reducer.h"
#include "lockstep/parallel/horovod/gradient_places.h"
#include "lockstep/parallel/horovod/negotiator.h"
#include "lockstep/parallel/overlap.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::parallel {

class Horovod : public Strategy {
 public:
  // Collective.
  explicit Horovod(const Surroundings& surroundings);
  ~Horovod() override;
  std::string_view name() const override { return "horovod"; }

  void begin() override;
  PartResult train_part(const StepPart& part) override;
  void finish_gradients() override;
  std::span<const Updatable> updatables() override { return updatables_; }
  void after_update() override;
  void settle() override;

  bool overlapped() const override { return overlap_.now(); }
  bool replicas_differ() const override { return !buffers_.equal(); }
  std::vector<record::BucketTimes> bucket_times() override { return times_; }
  std::optional<record::ControlFigures> control() const override { return engine_.figures(); }
  std::optional<ControlTime> waited_for_control() const override { return waited_; }
  nlohmann::json state() const override { return {{"steps_done", steps_done_}}; }
  void restore(const nlohmann::json& state) override;

 private:
  void begin_step();
  void on_gradient(std::size_t parameter);
  void hand_in(std::size_t parameter);
  void hand_in_the_rest();
  void wait_for_engine();
  ControlTime control_time() const;
  void note_times();

  Surroundings surroundings_;
  comm::Communicator& communicator_;
  models::Runner runner_;
  std::vector<models::NamedTensor> parameters_;
  std::vector<horovod::TensorFacts> tensors_;  // of the same parameters
  BufferSync buffers_;
  Overlap overlap_;
  std::unique_ptr<ComputeQueue> beside_;  // what the background thread computes on
  std::unique_ptr<comm::Communicator> data_;
  measure::Reservation data_memory_;
  std::unique_ptr<comm::Communicator> control_;  // of the host: no device holds up a negotiation
  horovod::GradientPlaces gradients_;
  horovod::FusedReducer reducer_;
  horovod::Negotiator negotiator_;
  std::vector<Updatable> updatables_;
  std::int64_t steps_done_ = 0;

  // Of the step that runs.
  bool sending_ = false;  // the last part: gradients that come now are final
  std::vector<bool> handed_in_;
  base::TimePoint backward_began_;
  ControlTime waited_;
  std::vector<record::BucketTimes> times_;

  horovod::Engine engine_;  // its thread uses what stands above
  GradientTap tap_;         // last: it calls into what stands above
};

}  // namespace lockstep::parallel
