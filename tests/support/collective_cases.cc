#include "tests/support/collective_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/support/pairwise.h"
#include "tests/support/ranks.h"

namespace lockstep::testing {
namespace {

using comm::Buffer;
using comm::Collective;
using comm::ElementType;
using comm::Operation;
using comm::Purpose;
using comm::ReduceOp;

bool reduces(Collective c) {
  return c == Collective::all_reduce || c == Collective::reduce || c == Collective::reduce_scatter;
}
bool has_parts(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::all_gather || c == Collective::gather ||
         c == Collective::scatter;
}

// What rank `rank` of `world` puts at `index`: a multiple of the world, so that means are whole; negative
// where possible.
double value_at(int rank, int world, std::size_t index, ElementType type) {
  const int magnitude = world * static_cast<int>((index * 7 + static_cast<std::size_t>(rank) * 5) % 3);
  return index % 2 == 1 && type != ElementType::u8 ? -magnitude : magnitude;
}

double reduced_at(ReduceOp op, int world, std::size_t index, ElementType type) {
  double result = value_at(0, world, index, type);
  for (int r = 1; r < world; ++r) {
    const double value = value_at(r, world, index, type);
    if (op == ReduceOp::max)
      result = std::max(result, value);
    else if (op == ReduceOp::min)
      result = std::min(result, value);
    else
      result += value;
  }
  return op == ReduceOp::mean ? result / world : result;
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Whole numbers up to 2048 in magnitude, exactly.
std::uint16_t half_of(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(value), &exponent);  // in [0.5, 1)
  const auto fraction = static_cast<std::uint16_t>((mantissa * 2 - 1) * 1024);
  return static_cast<std::uint16_t>((value < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) | fraction);
}

double value_of_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double fraction = (half & 1023) / 1024.0;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return half & 0x8000 ? -magnitude : magnitude;
}

// The elements of each rank's part.
std::vector<std::size_t> counts_of(const CollectiveCase& test, int world) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(world), test.elements);
  if (!test.unequal) return counts;
  for (std::size_t r = 0; r < counts.size(); ++r)
    counts[r] = r % 3 == 2 ? 0 : test.elements - std::min(test.elements, r % 2 * (test.elements / 3));
  return counts;
}

// One rank's view of a case while it runs.
class CaseRun {
 public:
  CaseRun(comm::Communicator& communicator, CaseMemory& memory, const CollectiveCase& test)
      : communicator_(communicator),
        test_(test),
        rank_(communicator.group().rank),
        world_(communicator.group().world),
        root_(world_ - 1),
        counts_(counts_of(test, world_)),
        total_(std::accumulate(counts_.begin(), counts_.end(), std::size_t{0})),
        input_(memory.input_shadow(test.owned)),
        output_(memory.output_shadow(test.owned)),
        real_input_(static_cast<std::byte*>(memory.input(test.owned))),
        real_output_(static_cast<std::byte*>(memory.output(test.owned))),
        place_(memory.place(test.owned)) {}

  void run() {
    if (test_.collective == Collective::send) return run_ring();
    const Operation operation = make_operation();
    upload();
    execute(operation);
    download();
    verify(operation);
  }

 private:
  std::size_t element_bytes() const { return comm::bytes_of(test_.type); }
  std::size_t offset_of(int rank) const {
    return std::accumulate(counts_.begin(), counts_.begin() + rank, std::size_t{0});
  }
  std::size_t own_count() const { return counts_[static_cast<std::size_t>(rank_)]; }
  Buffer view(std::byte* base, std::size_t first, std::size_t count) const {
    std::byte* real = base == input_ ? real_input_ : real_output_;
    return {real + first * element_bytes(), count * element_bytes(), test_.type, place_};
  }
  // The shadow of what lies at `real`; real memory is its own unless it is on a device.
  const std::byte* shadow_of(const void* real) const {
    const auto* at = static_cast<const std::byte*>(real);
    const std::size_t largest = std::max(total_, test_.elements) * element_bytes();
    const bool in_output = at >= real_output_ && at <= real_output_ + largest;
    return in_output ? output_ + (at - real_output_) : input_ + (at - real_input_);
  }
  Buffer whole(std::byte* base, comm::Place place) const {
    return {base, std::max(total_, test_.elements) * element_bytes(), ElementType::u8, place};
  }
  void upload() {
    if (place_ != comm::Place::device) return;
    communicator_.copy(whole(real_input_, place_), whole(input_, comm::Place::host));
    communicator_.copy(whole(real_output_, place_), whole(output_, comm::Place::host));
  }
  void download() {
    if (place_ != comm::Place::device) return;
    communicator_.copy(whole(input_, comm::Place::host), whole(real_input_, place_));
    communicator_.copy(whole(output_, comm::Place::host), whole(real_output_, place_));
  }
  std::vector<std::size_t> given_counts() const {
    return test_.unequal ? counts_ : std::vector<std::size_t>{};
  }
  void fill(std::byte* base, std::size_t count, std::size_t first_index) {
    for (std::size_t i = 0; i < count; ++i)
      write_element(base, test_.type, i, value_at(rank_, world_, first_index + i, test_.type));
  }
  void poison(std::byte* base, std::size_t count) { std::memset(base, 0xcd, count * element_bytes()); }

  Operation make_operation() {
    const std::size_t n = test_.elements;
    const Purpose purpose = Purpose::gradient;
    const bool in_place = test_.in_place;
    switch (test_.collective) {
      case Collective::all_reduce:
        fill(input_, n, 0);
        poison(output_, n);
        return comm::all_reduce(view(input_, 0, n), view(in_place ? input_ : output_, 0, n), test_.op,
                                purpose);
      case Collective::reduce:
        fill(input_, n, 0);
        poison(output_, n);
        return comm::reduce(view(input_, 0, n),
                            rank_ == root_ ? view(in_place ? input_ : output_, 0, n) : Buffer{}, test_.op,
                            root_, purpose);
      case Collective::reduce_scatter:
        fill(input_, total_, 0);
        poison(output_, own_count());
        return comm::reduce_scatter(
            view(input_, 0, total_),
            in_place ? view(input_, offset_of(rank_), own_count()) : view(output_, 0, own_count()), test_.op,
            purpose, given_counts());
      case Collective::all_gather:
      case Collective::gather:
        return make_gather(purpose);
      case Collective::broadcast:
        poison(input_, n);
        if (rank_ == root_) fill(input_, n, 0);
        return comm::broadcast(view(input_, 0, n), root_, purpose);
      case Collective::scatter:
        if (rank_ == root_) fill(input_, total_, 0);
        poison(output_, own_count());
        return comm::scatter(rank_ == root_ ? view(input_, 0, total_) : Buffer{},
                             view(output_, 0, own_count()), root_, purpose, given_counts());
      default:
        return comm::barrier();
    }
  }

  Operation make_gather(Purpose purpose) {
    poison(output_, total_);
    const bool holds_all = test_.collective == Collective::all_gather || rank_ == root_;
    const bool in_place = test_.in_place && holds_all;
    const Buffer own = in_place ? view(output_, offset_of(rank_), own_count()) : view(input_, 0, own_count());
    fill(in_place ? output_ + offset_of(rank_) * element_bytes() : input_, own_count(), offset_of(rank_));
    const Buffer all = holds_all ? view(output_, 0, total_) : Buffer{};
    return test_.collective == Collective::all_gather
               ? comm::all_gather(own, all, purpose, given_counts())
               : comm::gather(own, all, root_, purpose, given_counts());
  }

  void execute(const Operation& operation) {
    if (test_.asynchronous)
      communicator_.start(operation).wait();
    else
      communicator_.run(operation);
  }

  void verify(const Operation& operation) const {
    const std::size_t n = test_.elements;
    if (operation.output.bytes == 0) return;
    const std::byte* out = shadow_of(operation.output.data);
    switch (test_.collective) {
      case Collective::all_reduce:
        return expect_reduced(out, n, 0);
      case Collective::reduce:
        if (rank_ == root_) expect_reduced(out, n, 0);
        return;
      case Collective::reduce_scatter:
        return expect_reduced(out, own_count(), offset_of(rank_));
      case Collective::broadcast:
        return expect_from(root_, out, n, 0);
      case Collective::scatter:
        return expect_from(root_, out, own_count(), offset_of(rank_));
      case Collective::gather:
        if (rank_ != root_) return;
        [[fallthrough]];
      case Collective::all_gather:
        for (int r = 0; r < world_; ++r)
          expect_from(r, out + offset_of(r) * element_bytes(), counts_[static_cast<std::size_t>(r)],
                      offset_of(r));
        return;
      default:
        return;
    }
  }

  // Every rank sends to the next one and receives from the one before; the last starts by receiving.
  void run_ring() {
    if (world_ == 1) return;
    const int next = (rank_ + 1) % world_, previous = (rank_ + world_ - 1) % world_;
    fill(input_, test_.elements, 0);
    poison(output_, test_.elements);
    const Operation out = comm::send(view(input_, 0, test_.elements), next, Purpose::gradient);
    const Operation in = comm::receive(view(output_, 0, test_.elements), previous, Purpose::gradient);
    const bool receives_first = rank_ == world_ - 1;
    upload();
    execute(receives_first ? in : out);
    execute(receives_first ? out : in);
    download();
    expect_from(previous, output_, test_.elements, 0);
  }

  void expect_reduced(const std::byte* out, std::size_t count, std::size_t first_index) const {
    for (std::size_t i = 0; i < count; ++i)
      expect_value(read_element(out, test_.type, i),
                   reduced_at(test_.op, world_, first_index + i, test_.type), i);
  }
  void expect_from(int source, const std::byte* out, std::size_t count, std::size_t first_index) const {
    for (std::size_t i = 0; i < count; ++i)
      expect_value(read_element(out, test_.type, i), value_at(source, world_, first_index + i, test_.type),
                   i);
  }
  void expect_value(double found, double expected, std::size_t index) const {
    if (found != expected)
      check(false, fmt::format("{} on rank {} of {} over {}: element {} is {}, not {}", describe(test_),
                               rank_, world_, communicator_.backend(), index, found, expected));
  }

  comm::Communicator& communicator_;
  const CollectiveCase& test_;
  int rank_, world_, root_;
  std::vector<std::size_t> counts_;
  std::size_t total_;
  std::byte* input_;
  std::byte* output_;
  std::byte* real_input_;
  std::byte* real_output_;
  comm::Place place_;
};

}  // namespace

std::string describe(const CollectiveCase& test) {
  return fmt::format("{} {} {} of {} elements, {}, {}, {} parts, {}", measure::name_of(test.collective),
                     comm::name_of(test.type), comm::name_of(test.op), test.elements,
                     test.owned ? "owned" : "private", test.in_place ? "in place" : "out of place",
                     test.unequal ? "unequal" : "equal", test.asynchronous ? "asynchronous" : "synchronous");
}

std::vector<CollectiveCase> collective_cases(bool full) {
  // Dimensions: collective (receive runs with send), type, op, size, owned, in place, unequal, asynchronous.
  const std::vector<Collective> collectives = {
      Collective::all_reduce, Collective::reduce,    Collective::reduce_scatter,
      Collective::all_gather, Collective::broadcast, Collective::gather,
      Collective::scatter,    Collective::send,      Collective::barrier};
  const std::vector<int> sizes = {
      static_cast<int>(collectives.size()), comm::kElementTypeCount, comm::kReduceOpCount, 4, 2, 2, 2, 2};
  const auto allowed = [&](const Choice& c) {
    const Collective collective = collectives[static_cast<std::size_t>(c[0])];
    const bool can_be_in_place = collective == Collective::all_reduce || collective == Collective::reduce ||
                                 collective == Collective::reduce_scatter ||
                                 collective == Collective::all_gather || collective == Collective::gather;
    return (reduces(collective) || c[2] == 0) && (can_be_in_place || c[5] == 0) &&
           (has_parts(collective) || c[6] == 0);
  };
  std::vector<Choice> choices;
  if (full) {
    choices = all_choices(sizes);
    std::erase_if(choices, [&](const Choice& c) { return !allowed(c); });
  } else {
    choices = pairwise_choices(sizes, allowed);
  }
  std::vector<CollectiveCase> cases;
  for (const Choice& c : choices) {
    const auto type = static_cast<ElementType>(c[1]);
    const std::size_t elements[] = {0, 1, 10007, (std::size_t{1} << 20) / comm::bytes_of(type) + 1};
    cases.push_back({collectives[static_cast<std::size_t>(c[0])], type, static_cast<ReduceOp>(c[2]),
                     elements[c[3]], c[4] == 1, c[5] == 1, c[6] == 1, c[7] == 1});
  }
  return cases;
}

CaseMemory::CaseMemory(comm::Communicator& communicator, std::size_t largest_bytes_per_rank)
    : owned_input_(communicator.allocate(largest_bytes_per_rank *
                                         static_cast<std::size_t>(communicator.group().world))),
      owned_output_(communicator.allocate(largest_bytes_per_rank *
                                          static_cast<std::size_t>(communicator.group().world))),
      private_input_(owned_input_.bytes()),
      private_output_(owned_output_.bytes()) {}

void run_case(comm::Communicator& communicator, CaseMemory& memory, const CollectiveCase& test) {
  CaseRun(communicator, memory, test).run();
}

double read_element(const void* data, ElementType type, std::size_t index) {
  switch (type) {
    case ElementType::f32:
      return static_cast<const float*>(data)[index];
    case ElementType::f64:
      return static_cast<const double*>(data)[index];
    case ElementType::f16:
      return value_of_half(static_cast<const std::uint16_t*>(data)[index]);
    case ElementType::bf16:
      return float_of(static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(data)[index]) << 16);
    case ElementType::i32:
      return static_cast<const std::int32_t*>(data)[index];
    case ElementType::i64:
      return static_cast<double>(static_cast<const std::int64_t*>(data)[index]);
    case ElementType::u8:
      return static_cast<const std::uint8_t*>(data)[index];
  }
  return 0;
}

void write_element(void* data, ElementType type, std::size_t index, double value) {
  switch (type) {
    case ElementType::f32:
      static_cast<float*>(data)[index] = static_cast<float>(value);
      return;
    case ElementType::f64:
      static_cast<double*>(data)[index] = value;
      return;
    case ElementType::f16:
      static_cast<std::uint16_t*>(data)[index] = half_of(value);
      return;
    case ElementType::bf16:
      static_cast<std::uint16_t*>(data)[index] =
          static_cast<std::uint16_t>(bits_of(static_cast<float>(value)) >> 16);
      return;
    case ElementType::i32:
      static_cast<std::int32_t*>(data)[index] = static_cast<std::int32_t>(value);
      return;
    case ElementType::i64:
      static_cast<std::int64_t*>(data)[index] = static_cast<std::int64_t>(value);
      return;
    case ElementType::u8:
      static_cast<std::uint8_t*>(data)[index] = static_cast<std::uint8_t>(value);
      return;
  }
}

}  // namespace lockstep::testing
