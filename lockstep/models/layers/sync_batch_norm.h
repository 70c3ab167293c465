// Batch norm over the global batch: statistics of all workers are combined in forward, their gradients in
// backward, so that N workers normalise exactly as one does with the whole batch.
#pragma once

#include "lockstep/models/layers/layers.h"
#include "lockstep/models/layers/standard_layers.h"

namespace lockstep::models {

// How workers hand each other statistics. Implemented over a communicator by whoever has one.
class StatisticsExchange {
 public:
  virtual ~StatisticsExchange() = default;
  // Every rank's tensor in rank order, [world, ...], on the same device. All ranks call it equally often and
  // in the same order, in forward and in backward, also with an empty batch.
  virtual at::Tensor gather(const at::Tensor& local) = 0;
};

class SyncBatchNorm2d : public BatchNorm2d {
 public:
  SyncBatchNorm2d(const LayerOptions& options, const BatchNorm2dSpec& spec, StatisticsExchange& exchange)
      : BatchNorm2d(options, spec), exchange_(exchange) {}

 protected:
  at::Tensor normalise(Runner& runner, const at::Tensor& input) override;

 private:
  void move_statistics(const at::Tensor& mean, const at::Tensor& variance, double count);
  StatisticsExchange& exchange_;
};

// The standard layers with batch norms that are synchronised. The exchange must outlive the model.
class SyncLayers : public StandardLayers {
 public:
  SyncLayers(const LayerOptions& options, StatisticsExchange& exchange)
      : StandardLayers(options), exchange_(exchange) {}
  Layer batch_norm2d(const BatchNorm2dSpec& spec) override {
    return std::make_unique<SyncBatchNorm2d>(options(), spec, exchange_);
  }

 private:
  StatisticsExchange& exchange_;
};

}  // namespace lockstep::models
