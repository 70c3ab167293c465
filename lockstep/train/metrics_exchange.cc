#include "lockstep/train/metrics_exchange.h"

#include <array>
#include <vector>

#include "lockstep/comm/operation.h"

namespace lockstep::train {
namespace {

using Numbers = std::array<double, 4>;  // doubles hold counts below 2^53 exactly

Numbers numbers_of(const Metrics& metrics) {
  return {static_cast<double>(metrics.samples), metrics.loss_sum, static_cast<double>(metrics.correct),
          metrics.psnr_sum};
}

Metrics metrics_from(const Numbers& numbers, record::Task task) {
  return {static_cast<std::int64_t>(numbers[0]), numbers[1], static_cast<std::int64_t>(numbers[2]),
          numbers[3], task};
}

}  // namespace

Metrics sum_over_ranks(comm::Communicator* communicator, const Metrics& mine) {
  if (communicator == nullptr) return mine;
  Numbers numbers = numbers_of(mine);
  std::vector<Numbers> all(static_cast<std::size_t>(communicator->group().world));
  communicator->run(
      comm::all_gather(comm::host_buffer(numbers.data(), numbers.size(), comm::ElementType::f64),
                       comm::host_buffer(all.data(), all.size() * numbers.size(), comm::ElementType::f64),
                       comm::Purpose::metric));
  Metrics sum;
  for (const Numbers& one : all) sum.add(metrics_from(one, mine.task));
  return sum;
}

}  // namespace lockstep::train
