// Builds, runs and checks the cases.
#include "tests/support/exact_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace lockstep::testing {
namespace {

using comm::Buffer;
using comm::Collective;
using comm::ElementType;
using comm::Operation;
using comm::ReduceOp;

// The bits of a small whole number as a 16-bit float: both are exact.
std::uint16_t f16_bits(int value) {
  if (value == 0) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((((bits >> 23) - 127 + 15) << 10) | ((bits >> 13) & 0x3ff));
}
std::uint16_t bf16_bits(int value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

void store_number(std::byte* to, ElementType type, int value) {
  switch (type) {
    case ElementType::f32:
      return store(to, static_cast<float>(value));
    case ElementType::f64:
      return store(to, static_cast<double>(value));
    case ElementType::f16:
      return store(to, f16_bits(value));
    case ElementType::bf16:
      return store(to, bf16_bits(value));
    case ElementType::i32:
      return store(to, static_cast<std::int32_t>(value));
    case ElementType::i64:
      return store(to, static_cast<std::int64_t>(value));
    case ElementType::u8:
      return store(to, static_cast<std::uint8_t>(value));
  }
}

// `value_of(i)` for element i; all our values repeat after three elements, so the rest is copied.
template <typename ValueOf>
std::vector<std::byte> tensor(ElementType type, std::size_t count, ValueOf value_of) {
  const std::size_t element_bytes = comm::bytes_of(type);
  std::vector<std::byte> bytes(count * element_bytes);
  for (std::size_t i = 0; i < std::min<std::size_t>(3, count); ++i)
    store_number(bytes.data() + i * element_bytes, type, value_of(static_cast<int>(i)));
  for (std::size_t filled = 3 * element_bytes; filled < bytes.size(); filled *= 2)
    std::memcpy(bytes.data() + filled, bytes.data(), std::min(filled, bytes.size() - filled));
  return bytes;
}

int input_value(ReduceOp op, int i, int rank, int world) {
  return op == ReduceOp::mean ? world * (i % 3 + 1) : (i + rank) % 3 + 1;
}

int reduced_value(ReduceOp op, int i, int world) {
  int result = input_value(op, i, 0, world);
  for (int rank = 1; rank < world; ++rank) {
    const int value = input_value(op, i, rank, world);
    if (op == ReduceOp::sum) result += value;
    if (op == ReduceOp::max) result = std::max(result, value);
    if (op == ReduceOp::min) result = std::min(result, value);
  }
  return result;
}

// One case on one rank: its tensors, and how each collective uses them.
class CaseRun {
 public:
  CaseRun(const ExactCase& test, int rank, int world, const std::function<void(const Operation&)>& run)
      : test_(test), rank_(rank), world_(world), run_(run) {}

  void execute() {
    switch (test_.collective) {
      case Collective::all_reduce:
      case Collective::reduce:
        return reduce_whole();
      case Collective::reduce_scatter:
        return reduce_scatter();
      case Collective::all_gather:
      case Collective::gather:
        return gather();
      case Collective::broadcast:
        return broadcast();
      case Collective::scatter:
        return scatter();
      case Collective::send:
      case Collective::receive:
        return circle();
      case Collective::barrier:
        return run_(comm::barrier());
    }
  }

 private:
  using Bytes = std::vector<std::byte>;

  Bytes input_of(int rank, std::size_t count) const {
    return tensor(test_.type, count, [&](int i) { return input_value(test_.op, i, rank, world_); });
  }
  Bytes reduced(std::size_t count) const {
    return tensor(test_.type, count, [&](int i) { return reduced_value(test_.op, i, world_); });
  }
  Bytes empty(std::size_t count) const { return Bytes(count * comm::bytes_of(test_.type), std::byte{0xee}); }
  Buffer buffer(Bytes& bytes) const { return {bytes.data(), bytes.size(), test_.type, comm::Place::host}; }

  std::size_t part_count(int rank) const {
    return test_.unequal ? test_.count() * static_cast<std::size_t>(rank % 3) : test_.count();
  }
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all;
    for (int rank = 0; rank < world_ && test_.unequal; ++rank) all.push_back(part_count(rank));
    return all;
  }
  std::size_t offset_bytes(int rank) const {
    std::size_t before = 0;
    for (int r = 0; r < rank; ++r) before += part_count(r);
    return before * comm::bytes_of(test_.type);
  }
  Bytes own_part(const Bytes& whole) const {
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(offset_bytes(rank_));
    return {begin, whole.begin() + static_cast<std::ptrdiff_t>(offset_bytes(rank_ + 1))};
  }
  // All ranks' parts one after the other, rank r's with values of rank r.
  Bytes gathered() const {
    Bytes whole;
    for (int rank = 0; rank < world_; ++rank) {
      const Bytes part = input_of(rank, part_count(rank));
      whole.insert(whole.end(), part.begin(), part.end());
    }
    return whole;
  }

  void expect(const Buffer& got, const Bytes& wanted, const char* what) const {
    if (got.bytes == wanted.size() &&
        (wanted.empty() || std::memcmp(got.data, wanted.data(), got.bytes) == 0))
      return;
    throw std::runtime_error(
        fmt::format("rank {}: {}: the {} is wrong", rank_, test_.describe(world_), what));
  }

  void reduce_whole() {
    const bool everywhere = test_.collective == Collective::all_reduce;
    const bool has_output = everywhere || rank_ == test_.root;
    Bytes input = input_of(rank_, test_.count());
    Bytes output = empty(test_.count());
    const Buffer in = buffer(input);
    const Buffer out = test_.in_place ? in : has_output ? buffer(output) : Buffer{};
    run_(everywhere ? comm::all_reduce(in, out, test_.op, comm::Purpose::gradient)
                    : comm::reduce(in, out, test_.op, test_.root, comm::Purpose::gradient));
    if (has_output) expect(out, reduced(test_.count()), "output");
    if (!test_.in_place) expect(in, input_of(rank_, test_.count()), "input afterwards");
  }

  void reduce_scatter() {
    const std::size_t total = offset_bytes(world_) / comm::bytes_of(test_.type);
    Bytes input = input_of(rank_, total);
    Bytes output = empty(part_count(rank_));
    const Buffer in = buffer(input);
    const Buffer out = test_.in_place ? in.part(offset_bytes(rank_), output.size()) : buffer(output);
    run_(comm::reduce_scatter(in, out, test_.op, comm::Purpose::gradient, counts()));
    expect(out, own_part(reduced(total)), "output");
    if (!test_.in_place) expect(in, input_of(rank_, total), "input afterwards");
  }

  void gather() {
    const bool everywhere = test_.collective == Collective::all_gather;
    const bool has_output = everywhere || rank_ == test_.root;
    Bytes input = input_of(rank_, part_count(rank_));
    Bytes output = has_output ? Bytes(offset_bytes(world_), std::byte{0xee}) : Bytes{};
    Buffer in = buffer(input);
    const Buffer out = buffer(output);
    if (test_.in_place && has_output) {
      in = out.part(offset_bytes(rank_), input.size());
      std::copy(input.begin(), input.end(), static_cast<std::byte*>(in.data));
    }
    run_(everywhere ? comm::all_gather(in, out, comm::Purpose::parameter, counts())
                    : comm::gather(in, out, test_.root, comm::Purpose::parameter, counts()));
    if (has_output) expect(out, gathered(), "output");
  }

  void broadcast() {
    Bytes data = rank_ == test_.root ? input_of(test_.root, test_.count()) : empty(test_.count());
    run_(comm::broadcast(buffer(data), test_.root, comm::Purpose::parameter));
    expect(buffer(data), input_of(test_.root, test_.count()), "output");
  }

  void scatter() {
    Bytes whole = rank_ == test_.root ? gathered() : Bytes{};
    Bytes output = empty(part_count(rank_));
    const Buffer in = rank_ == test_.root ? buffer(whole) : Buffer{};
    const bool inside = test_.in_place && rank_ == test_.root;
    const Buffer out = inside ? in.part(offset_bytes(rank_), output.size()) : buffer(output);
    run_(comm::scatter(in, out, test_.root, comm::Purpose::parameter, counts()));
    expect(out, input_of(rank_, part_count(rank_)), "output");
  }

  void circle() {
    if (world_ == 1) return;
    const int next = (rank_ + 1) % world_;
    const int before = (rank_ + world_ - 1) % world_;
    Bytes input = input_of(rank_, test_.count());
    Bytes output = empty(test_.count());
    if (rank_ % 2 == 0) run_(comm::send(buffer(input), next, comm::Purpose::control));
    run_(comm::receive(buffer(output), before, comm::Purpose::control));
    if (rank_ % 2 != 0) run_(comm::send(buffer(input), next, comm::Purpose::control));
    expect(buffer(output), input_of(before, test_.count()), "output");
  }

  const ExactCase& test_;
  const int rank_, world_;
  const std::function<void(const Operation&)>& run_;
};

constexpr Collective kCollectives[] = {
    Collective::all_reduce, Collective::reduce,    Collective::reduce_scatter,
    Collective::all_gather, Collective::broadcast, Collective::gather,
    Collective::scatter,    Collective::send,      Collective::barrier};
constexpr CaseSize kSizes[] = {CaseSize::none, CaseSize::one, CaseSize::prime, CaseSize::large};

struct Placement {
  bool in_place;
  bool unequal;
};

// The reductions and placements that make a difference to a collective.
std::vector<ReduceOp> ops_of(Collective collective) {
  const bool reduces = collective == Collective::all_reduce || collective == Collective::reduce ||
                       collective == Collective::reduce_scatter;
  if (!reduces) return {ReduceOp::sum};
  return {ReduceOp::sum, ReduceOp::mean, ReduceOp::max, ReduceOp::min};
}

std::vector<Placement> placements_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
    case Collective::reduce:
      return {{false, false}, {true, false}};
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::gather:
    case Collective::scatter:
      return {{false, false}, {true, false}, {false, true}, {true, true}};
    default:
      return {{false, false}};
  }
}

// All cases of one collective, type and size.
std::vector<ExactCase> cases_of(Collective collective, ElementType type, CaseSize size, int world) {
  std::vector<ExactCase> cases;
  for (const ReduceOp op : ops_of(collective))
    for (const Placement& placement : placements_of(collective))
      for (const bool asynchronous : {false, true}) {
        const int root = (static_cast<int>(type) + static_cast<int>(op)) % world;
        cases.push_back(
            {collective, type, op, size, placement.in_place, placement.unequal, root, asynchronous});
      }
  return cases;
}

// One of them, the indices running through a Latin square: over all types and sizes, each two values of
// reduction, placement and asynchrony meet.
ExactCase one_of(const std::vector<ExactCase>& cases, std::size_t type, std::size_t size, std::size_t world) {
  const Collective collective = cases.front().collective;
  const std::size_t placements = placements_of(collective).size();
  const std::size_t op = (type + size) % ops_of(collective).size();
  const std::size_t placement = (type + 2 * size + world) % placements;
  const std::size_t asynchronous = (type + size / 2) % 2;
  return cases[(op * placements + placement) * 2 + asynchronous];
}

}  // namespace

std::size_t ExactCase::count() const {
  switch (size) {
    case CaseSize::none:
      return 0;
    case CaseSize::one:
      return 1;
    case CaseSize::prime:
      return 4093;
    case CaseSize::large:
      return (std::size_t{1} << 20) / comm::bytes_of(type) + 1;
    case CaseSize::huge:
      return (std::size_t{64} << 20) / comm::bytes_of(type);
  }
  return 0;
}

std::string ExactCase::describe(int world) const {
  return fmt::format("{} ({}) of {} {} on {} ranks, root {}{}{}{}", measure::name_of(collective),
                     comm::name_of(op), count(), comm::name_of(type), world, root,
                     in_place ? ", in place" : "", unequal ? ", unequal parts" : "",
                     asynchronous ? ", asynchronous" : "");
}

void run_exact_case(const ExactCase& test, int rank, int world,
                    const std::function<void(const Operation&)>& run) {
  CaseRun(test, rank, world, run).execute();
}

void run_exact_case(const ExactCase& test, comm::Communicator& communicator) {
  const comm::Group& group = communicator.group();
  run_exact_case(test, group.rank, group.world, [&](const Operation& operation) {
    if (test.asynchronous)
      communicator.start(operation).wait();
    else
      communicator.run(operation);
  });
}

std::vector<ExactCase> exact_cases(int world, bool full) {
  std::vector<ExactCase> selected;
  for (const Collective collective : kCollectives)
    for (int type = 0; type < comm::kElementTypeCount; ++type)
      for (const CaseSize size : kSizes) {
        const std::vector<ExactCase> cases =
            cases_of(collective, static_cast<ElementType>(type), size, world);
        if (full)
          selected.insert(selected.end(), cases.begin(), cases.end());
        else
          selected.push_back(one_of(cases, static_cast<std::size_t>(type), static_cast<std::size_t>(size),
                                    static_cast<std::size_t>(world)));
      }
  return selected;
}

std::vector<ExactCase> huge_cases(bool full) {
  std::vector<ExactCase> cases;
  for (const Collective collective : kCollectives) {
    const bool moves = collective != Collective::barrier;
    if (collective == Collective::all_reduce || (full && moves))
      cases.push_back({collective, ElementType::f32, ReduceOp::sum, CaseSize::huge, false, false, 1, false});
  }
  return cases;
}

}  // namespace lockstep::testing
