#include "lockstep/parallel/statistics_channel.h"

#include <ATen/ATen.h>

#include <vector>

#include "lockstep/comm/operation.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {

at::Tensor StatisticsChannel::gather(const at::Tensor& local) {
  const measure::SpanScope span(timer_, measure::Span::exposed_comm, measure::Purpose::statistics);
  const at::Tensor mine = local.contiguous();
  std::vector<std::int64_t> sizes = {channel_.group().world};  // [world, ...]
  sizes.insert(sizes.end(), mine.sizes().begin(), mine.sizes().end());
  at::Tensor all = at::empty(sizes, mine.options());
  channel_.run(comm::all_gather(buffer_of(mine), buffer_of(all), comm::Purpose::statistics));
  return all;
}

}  // namespace lockstep::parallel
