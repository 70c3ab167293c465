// Distributed data parallel: every worker has a replica, computes the gradient of its share of the batch, and
// all gradients are added up in buckets while backward goes on.
//
// Buckets are sent in a fixed order on all ranks: one that is ready early waits for its turn. In the first
// step they are laid out in the reverse order of the parameters; from the second on in the order in which
// rank 0 saw its gradients become ready.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lockstep/models/gradient_slot.h"
#include "lockstep/parallel/buckets.h"
#include "lockstep/parallel/buffer_sync.h"
#include "lockstep/parallel/gradient_tap.h"
#include "lockstep/parallel/overlap.h"
#include "lockstep/parallel/sent_buckets.h"
#include "lockstep/parallel/square_norms.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::parallel {

// Whether buckets keep the order they were first laid out in: what is divided by buckets (zero1) must.
enum class BucketOrder { as_observed, fixed };

class Ddp : public Strategy {
 public:
  // Collective.
  explicit Ddp(const Surroundings& surroundings, BucketOrder order = BucketOrder::as_observed);
  ~Ddp() override;
  std::string_view name() const override { return "ddp"; }

  void begin() override;
  PartResult train_part(const StepPart& part) override;
  void finish_gradients() override;
  std::span<const Updatable> updatables() override { return updatables_; }
  void after_update() override;
  void settle() override;

  bool steady() const override { return overlap_.decided() && order_observed_; }
  bool overlapped() const override { return overlap_.now(); }
  bool replicas_differ() const override { return !buffers_.equal(); }
  std::vector<record::BucketTimes> bucket_times() override { return times_; }
  std::optional<record::SquareNorm> square_norm() const override { return norms_.last(); }
  nlohmann::json state() const override;
  void restore(const nlohmann::json& state) override;

 protected:
  // The collective that adds up the gradients of a bucket.
  virtual comm::Operation reduction_of(const comm::Buffer& bucket) const;

  const Surroundings& surroundings() const { return surroundings_; }
  comm::Communicator& communicator() const { return communicator_; }
  const std::vector<models::NamedTensor>& parameters() const { return parameters_; }
  const BucketLayout& layout() const { return layout_; }
  const Buckets& buckets() const { return buckets_; }

 private:
  // When a bucket was reduced; a GPU's may become known after its step.
  struct Reduction {
    base::TimePoint started, ended;
  };
  // A bucket on its way through one step.
  struct Flight {
    std::size_t missing = 0;  // gradients that are not there yet
    base::TimePoint ready;
    std::shared_ptr<Reduction> reduction;
    comm::Work work;
  };

  void begin_step(const StepPart& part);
  void on_gradient(std::size_t parameter);
  void take_gradient(std::size_t parameter);
  void mark_ready(std::size_t parameter);
  void launch_ready_buckets();
  void launch(std::size_t bucket);
  void reduce(std::size_t bucket);
  void collect(std::size_t bucket);
  void fill_missing();
  void note_times();
  void adopt_ready_order();
  void use_layout(const BucketLayout& layout);

  Surroundings surroundings_;
  comm::Communicator& communicator_;
  models::Runner runner_;
  std::vector<models::NamedTensor> parameters_;
  std::vector<std::shared_ptr<models::GradientSlot>> slots_;  // of the same parameters
  Buckets buckets_;
  SentBuckets sent_;
  BufferSync buffers_;
  Overlap overlap_;
  SquareNorms norms_;
  BucketLimits limits_;
  BucketLayout layout_;
  std::vector<Updatable> updatables_;
  bool order_observed_ = false;
  std::int64_t steps_done_ = 0;

  // Of the step that runs.
  bool sending_ = false;  // the last part: gradients that come now are final
  std::vector<bool> written_;
  std::vector<bool> ready_;
  std::vector<std::size_t> ready_order_;
  std::vector<Flight> flights_;
  std::size_t next_bucket_ = 0;
  base::TimePoint backward_began_;
  std::vector<record::BucketTimes> times_;

  GradientTap tap_;  // last: it calls into what stands above
};

}  // namespace lockstep::parallel
