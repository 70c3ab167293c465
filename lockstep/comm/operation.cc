#include "lockstep/comm/operation.h"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "lockstep/base/error.h"

namespace lockstep::comm {
namespace {

constexpr std::array<std::string_view, kReduceOpCount> kReduceOpNames = {"sum", "mean", "max", "min"};

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}

bool has_root(Collective collective) {
  return collective == Collective::reduce || collective == Collective::broadcast ||
         collective == Collective::gather || collective == Collective::scatter ||
         collective == Collective::send || collective == Collective::receive;
}

// The buffer that holds all parts on the ranks that have one.
const Buffer& whole_of(const Operation& operation) {
  const bool whole_goes_in =
      operation.collective == Collective::reduce_scatter || operation.collective == Collective::scatter;
  return whole_goes_in ? operation.input : operation.output;
}

const Buffer& part_buffer_of(const Operation& operation) {
  const bool whole_goes_in =
      operation.collective == Collective::reduce_scatter || operation.collective == Collective::scatter;
  return whole_goes_in ? operation.output : operation.input;
}

bool has_parts(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::all_gather ||
         collective == Collective::gather || collective == Collective::scatter;
}

bool holds_whole(const Operation& operation, int rank) {
  const bool rooted =
      operation.collective == Collective::gather || operation.collective == Collective::scatter;
  return !rooted || operation.root == rank;
}

void require(bool condition, const Operation& operation, std::string_view complaint) {
  if (!condition) throw base::ConfigError(fmt::format("{}: {}", describe(operation), complaint));
}

void validate_parts(const Operation& operation, int rank, int world) {
  require(operation.counts.empty() || operation.counts.size() == static_cast<std::size_t>(world), operation,
          "as many counts as ranks are needed");
  require(part_buffer_of(operation).bytes == part_of(operation, rank, world).bytes, operation,
          "this rank's part does not have the size the counts give it");
  if (!holds_whole(operation, rank)) return;
  std::size_t total_bytes = 0;
  for (int r = 0; r < world; ++r) total_bytes += part_of(operation, r, world).bytes;
  require(whole_of(operation).bytes == total_bytes, operation,
          "the whole is not as large as its parts together");
}

}  // namespace

std::string_view name_of(ReduceOp op) {
  return kReduceOpNames[static_cast<std::size_t>(op)];
}

std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  for (std::size_t i = 0; i < kReduceOpNames.size(); ++i)
    if (kReduceOpNames[i] == name) return static_cast<ReduceOp>(i);
  return std::nullopt;
}

Operation all_reduce(Buffer in_place, ReduceOp op, Purpose purpose) {
  return all_reduce(in_place, in_place, op, purpose);
}

Operation all_reduce(Buffer input, Buffer output, ReduceOp op, Purpose purpose) {
  return {Collective::all_reduce, input, output, op, 0, purpose, {}};
}

Operation reduce(Buffer input, Buffer output, ReduceOp op, int root, Purpose purpose) {
  return {Collective::reduce, input, output, op, root, purpose, {}};
}

Operation reduce_scatter(Buffer input, Buffer output, ReduceOp op, Purpose purpose,
                         std::vector<std::size_t> counts) {
  return {Collective::reduce_scatter, input, output, op, 0, purpose, std::move(counts)};
}

Operation all_gather(Buffer input, Buffer output, Purpose purpose, std::vector<std::size_t> counts) {
  return {Collective::all_gather, input, output, ReduceOp::sum, 0, purpose, std::move(counts)};
}

Operation broadcast(Buffer in_place, int root, Purpose purpose) {
  return {Collective::broadcast, in_place, in_place, ReduceOp::sum, root, purpose, {}};
}

Operation gather(Buffer input, Buffer output, int root, Purpose purpose, std::vector<std::size_t> counts) {
  return {Collective::gather, input, output, ReduceOp::sum, root, purpose, std::move(counts)};
}

Operation scatter(Buffer input, Buffer output, int root, Purpose purpose, std::vector<std::size_t> counts) {
  return {Collective::scatter, input, output, ReduceOp::sum, root, purpose, std::move(counts)};
}

Operation send(Buffer input, int to, Purpose purpose) {
  return {Collective::send, input, {}, ReduceOp::sum, to, purpose, {}};
}

Operation receive(Buffer output, int from, Purpose purpose) {
  return {Collective::receive, {}, output, ReduceOp::sum, from, purpose, {}};
}

Operation barrier(Purpose purpose) {
  return {Collective::barrier, {}, {}, ReduceOp::sum, 0, purpose, {}};
}

Part part_of(const Operation& operation, int rank, int world) {
  const auto index = static_cast<std::size_t>(rank);
  if (operation.counts.empty()) {
    // Equal parts: known from this rank's own part, which every rank has.
    const std::size_t bytes = part_buffer_of(operation).bytes;
    return {index * bytes, bytes};
  }
  (void)world;
  const std::size_t element_bytes = bytes_of(operation.type());
  const std::size_t before =
      std::accumulate(operation.counts.begin(), operation.counts.begin() + rank, std::size_t{0});
  return {before * element_bytes, operation.counts[index] * element_bytes};
}

std::uint64_t payload_bytes(const Operation& operation, int world) {
  switch (operation.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::broadcast:
    case Collective::send:
      return operation.input.bytes;
    case Collective::receive:
      return operation.output.bytes;
    case Collective::barrier:
      return 0;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::gather:
    case Collective::scatter:
      break;
  }
  const Part last = part_of(operation, world - 1, world);
  return last.offset_bytes + last.bytes;
}

void validate(const Operation& operation, int rank, int world) {
  const Collective collective = operation.collective;
  if (collective == Collective::barrier) return;
  const std::size_t element_bytes = bytes_of(operation.type());
  require(operation.input.bytes % element_bytes == 0 && operation.output.bytes % element_bytes == 0,
          operation, "a buffer does not hold whole elements");
  if (has_root(collective))
    require(operation.root >= 0 && operation.root < world, operation,
            fmt::format("there is no rank {} among {}", operation.root, world));
  if (collective == Collective::send || collective == Collective::receive)
    require(operation.root != rank, operation, "a rank cannot send to itself");
  if (has_parts(collective)) validate_parts(operation, rank, world);
  const bool same_size =
      collective == Collective::all_reduce || (collective == Collective::reduce && rank == operation.root);
  if (same_size)
    require(operation.input.bytes == operation.output.bytes && operation.input.type == operation.output.type,
            operation, "input and output differ in size or type");
}

std::string describe(const Operation& operation) {
  std::string text(measure::name_of(operation.collective));
  if (operation.collective == Collective::barrier) return text;
  const std::size_t bytes = std::max(operation.input.bytes, operation.output.bytes);
  if (reduces(operation.collective)) text += fmt::format(" ({})", name_of(operation.reduce_op));
  text += fmt::format(" of {} {}", bytes / bytes_of(operation.type()), name_of(operation.type()));
  if (operation.collective == Collective::send) return text + fmt::format(" to rank {}", operation.root);
  if (operation.collective == Collective::receive) return text + fmt::format(" from rank {}", operation.root);
  if (has_root(operation.collective)) text += fmt::format(" with root {}", operation.root);
  return text;
}

}  // namespace lockstep::comm
