// Statistics of synchronised batch norms over a communicator of their own, so that they do not queue behind
// buckets.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/models/layers/sync_batch_norm.h"

namespace lockstep::parallel {

class StatisticsChannel : public models::StatisticsExchange {
 public:
  // Over a channel that was opened for it.
  StatisticsChannel(std::unique_ptr<comm::Communicator> channel, measure::StepTimer& timer)
      : channel_(std::move(channel)), timer_(timer) {}
  at::Tensor gather(const at::Tensor& local) override;

 private:
  std::unique_ptr<comm::Communicator> channel_;
  measure::StepTimer& timer_;
};

}  // namespace lockstep::parallel
