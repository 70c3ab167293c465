#include "lockstep/parallel/dp/row_exchange.h"

#include <ATen/ATen.h>

#include <functional>
#include <numeric>

#include "lockstep/comm/operation.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {
namespace {

// Elements of each replica's part.
std::vector<std::size_t> counts_of(const std::vector<RowShare>& shares, const RowShape& shape) {
  std::vector<std::size_t> counts;
  for (const RowShare& share : shares)
    counts.push_back(static_cast<std::size_t>(share.count * shape.elements()));
  return counts;
}

at::Tensor rows_in(const at::Tensor& whole, const RowShare& share) {
  return whole.narrow(0, share.begin, share.count);
}

const RowShare& share_of(const std::vector<RowShare>& shares, int replica) {
  return shares[static_cast<std::size_t>(replica)];
}

}  // namespace

std::vector<RowShare> share_rows(std::int64_t rows, int replicas) {
  std::vector<RowShare> shares;
  std::int64_t begin = 0;
  for (int replica = 0; replica < replicas; ++replica) {
    const std::int64_t count = rows / replicas + (replica < rows % replicas ? 1 : 0);
    shares.push_back({begin, count});
    begin += count;
  }
  return shares;
}

RowShape RowShape::of(const at::Tensor& rows) {
  return {rows.sizes().slice(1).vec(), rows.options().requires_grad(false)};
}

at::Tensor RowShape::empty(std::int64_t count) const {
  return empty(count, options.device());
}

at::Tensor RowShape::empty(std::int64_t count, const at::Device& device) const {
  std::vector<std::int64_t> all = {count};
  all.insert(all.end(), sizes.begin(), sizes.end());
  return at::empty(all, options.device(device).memory_format(at::MemoryFormat::Contiguous));
}

std::int64_t RowShape::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

at::Tensor RowExchange::scatter(const at::Tensor& whole, const RowShape& shape,
                                const std::vector<RowShare>& shares, measure::Purpose purpose) {
  if (communicator_.group().world == 1) return whole;
  if (threaded_) return take(whole, shape, shares, purpose);
  if (rank() == 0) {
    const at::Tensor source = whole.contiguous();
    send_in_turn(source, shares, purpose);
    return rows_in(source, shares.front());
  }
  const at::Tensor rows = shape.empty(share_of(shares, rank()).count, device_);
  if (rows.size(0) > 0) communicator_.run(comm::receive(buffer_of(rows), 0, purpose));
  return rows;
}

void RowExchange::send_in_turn(const at::Tensor& whole, const std::vector<RowShare>& shares,
                               measure::Purpose purpose) {
  for (int to = 1; to < static_cast<int>(shares.size()); ++to) {
    if (share_of(shares, to).count == 0) continue;
    communicator_.run(comm::send(buffer_of(rows_in(whole, share_of(shares, to))), to, purpose));
  }
}

at::Tensor RowExchange::take(const at::Tensor& whole, const RowShape& shape,
                             const std::vector<RowShare>& shares, measure::Purpose purpose) {
  const bool first = rank() == 0;
  const at::Tensor source = first ? whole.contiguous() : at::Tensor();
  const at::Tensor rows =
      first ? rows_in(source, shares.front()) : shape.empty(share_of(shares, rank()).count, device_);
  const comm::Buffer input = first ? buffer_of(source) : comm::Buffer{};
  communicator_.run(comm::scatter(input, buffer_of(rows), 0, purpose, counts_of(shares, shape)));
  return rows;
}

at::Tensor RowExchange::gather(const at::Tensor& rows, const RowShape& shape,
                               const std::vector<RowShare>& shares, measure::Purpose purpose) {
  if (communicator_.group().world == 1) return rows;
  const at::Tensor mine = rows.contiguous();
  const bool first = rank() == 0;
  const at::Tensor whole = first ? shape.empty(shares.back().begin + shares.back().count) : at::Tensor();
  const comm::Buffer output = first ? buffer_of(whole) : comm::Buffer{};
  communicator_.run(comm::gather(buffer_of(mine), output, 0, purpose, counts_of(shares, shape)));
  return whole;
}

}  // namespace lockstep::parallel
