// Statistics of synchronised batch norms over a communicator: of their own where threads of the host move
// bytes, so that they do not queue behind buckets. On a device, where operations must not overtake each other
// (ordered_communicator.h), it is the buckets' own.
#pragma once

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/models/layers/sync_batch_norm.h"

namespace lockstep::parallel {

class StatisticsChannel : public models::StatisticsExchange {
 public:
  StatisticsChannel(comm::Communicator& channel, measure::StepTimer& timer)
      : channel_(channel), timer_(timer) {}
  at::Tensor gather(const at::Tensor& local) override;

 private:
  comm::Communicator& channel_;
  measure::StepTimer& timer_;
};

}  // namespace lockstep::parallel
