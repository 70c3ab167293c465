// ZeRO, stage 1: as ddp, with the optimiser's state and its work divided among the workers.
//
// A bucket of gradients is reduce-scattered while backward goes on: every worker gets the sum of its shard of
// the bucket only, updates that shard of the parameters, and then all gather each other's. Parameters lie in
// memory of the communicator in the arrangement of the buckets, so that neither way copies anything. Buckets
// keep their first arrangement (the reverse order of the parameters): shards, and the optimiser's state with
// them, depend on it.
#pragma once

#include <vector>

#include "lockstep/parallel/ddp.h"

namespace lockstep::parallel {

class Zero1 : public Ddp {
 public:
  // Collective. The model's parameters lie in memory of this object, and are empty when it has gone.
  explicit Zero1(const Surroundings& surroundings);
  ~Zero1() override;
  std::string_view name() const override { return "zero1"; }

  std::span<const Updatable> updatables() override { return shards_; }
  double sum_over_updatables(double mine) override;
  void after_update() override;
  bool updates_divided() const override { return true; }
  void restore(const nlohmann::json& state) override;

 protected:
  comm::Operation reduction_of(const comm::Buffer& bucket) const override;

 private:
  void move_parameters_in();
  void make_shards();
  comm::Operation gathering_of(const comm::Buffer& bucket) const;

  Buckets values_;  // of the parameters, arranged as the gradients are
  std::vector<Updatable> shards_;
};

}  // namespace lockstep::parallel
