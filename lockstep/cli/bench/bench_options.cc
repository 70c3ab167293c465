#include "lockstep/cli/bench/bench_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"
#include "lockstep/cli/bench/bench_plan.h"

namespace lockstep::cli {
namespace {

void require(bool condition, const std::string& complaint) {
  if (!condition) throw base::UsageError(complaint);
}

bool any_of(const std::vector<measure::Collective>& collectives, bool (*condition)(measure::Collective)) {
  return std::any_of(collectives.begin(), collectives.end(), condition);
}

template <typename Value>
void set_default(std::vector<Value>& list, Value value) {
  if (list.empty()) list.push_back(std::move(value));
}

// The same word twice is the same thing once.
template <typename Value>
void drop_repetitions(std::vector<Value>& list) {
  std::vector<Value> kept;
  for (const Value& value : list)
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
  list = std::move(kept);
}

}  // namespace

void BenchOptions::complete() {
  require(!collectives.empty(),
          "which collective? For example: lockstep bench allreduce. There is also `all`.");
  require(!root || any_of(collectives, has_root),
          "--root is for collectives that have one: reduce, broadcast, gather and scatter.");
  require(ops.empty() || any_of(collectives, reduces),
          "--op is for collectives that reduce: all_reduce, reduce and reduce_scatter.");
  set_default<std::string>(backends, "shm");
  set_default(types, comm::ElementType::f32);
  set_default(ops, comm::ReduceOp::sum);
  drop_repetitions(collectives);
  drop_repetitions(backends);
  drop_repetitions(types);
  drop_repetitions(ops);
  if (min_bytes > max_bytes)
    throw base::ConfigError(fmt::format("--min-bytes {} is above --max-bytes {}.",
                                        base::format_bytes(min_bytes), base::format_bytes(max_bytes)));
  require(step_bytes > 0 || factor > 1,
          fmt::format("--factor {} never gets from one size to the next.", factor));
  for (auto& [backend, names] : algorithms) {
    drop_repetitions(names);
    require(std::find(backends.begin(), backends.end(), backend) != backends.end(),
            fmt::format("--algorithm {}:{} is for a backend that is not asked for.", backend, names.front()));
  }
}

}  // namespace lockstep::cli
