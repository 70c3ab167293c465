#include "lockstep/train/replicas.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "lockstep/base/counted.h"
#include "lockstep/comm/local/local_backend.h"
#include "lockstep/comm/wrappers/recording.h"
#include "lockstep/device/cgroup_limits.h"
#include "lockstep/device/cpu_placement.h"
#include "lockstep/parallel/statistics_channel.h"
#include "lockstep/train/failure.h"
#include "lockstep/train/totals.h"

namespace lockstep::train {
namespace {

device::CpuPlacement placement_on_cores(const record::RunSpec& spec) {
  return device::place_workers(device::usable_topology(), static_cast<int>(spec.workers),
                               device::cgroup_limits().cpu_quota);
}

// On a GPU the limit is the device's, which the account only counts.
std::optional<std::uint64_t> cap_of(const record::RunSpec& spec) {
  if (!spec.device_memory || spec.device == "cuda") return std::nullopt;
  return spec.device_memory->count;
}

comm::Group group_of(const ReplicasOptions& options, int replica) {
  const int world = static_cast<int>(options.spec.workers);
  return {replica, world, replica, world, options.session.group().host};
}

std::unique_ptr<measure::StepTimer> make_timer(const record::RunSpec& spec, parallel::ComputeQueue& compute,
                                               measure::SpanListener* listener) {
  return spec.measure ? compute.step_timer(listener) : measure::bare_step_timer();
}

}  // namespace

int replica_threads(const record::RunSpec& spec) {
  return spec.threads ? static_cast<int>(*spec.threads) : placement_on_cores(spec).threads_per_worker;
}

struct Replicas::Other {
  Other(const ReplicasOptions& options, const Placement& placement, int number)
      : group(group_of(options, number)),
        compute(parallel::compute_queue(placement.device)),
        trace(options.spec.trace ? make_trace_recorder(options.clock, group) : nullptr),
        timer(make_timer(options.spec, *compute, trace.get())),
        memory(std::make_shared<measure::MemoryAccount>(cap_of(options.spec))),
        events(options.directory / fmt::format("rank{}.jsonl", number), number, options.clock),
        reporter(options.spec, ledger, events) {
    if (trace != nullptr) ledger.listen(*trace);
  }

  comm::Group group;
  measure::Ledger ledger;
  std::unique_ptr<parallel::ComputeQueue> compute;
  std::unique_ptr<measure::TraceRecorder> trace;  // null: none is asked for
  std::unique_ptr<measure::StepTimer> timer;
  std::shared_ptr<measure::MemoryAccount> memory;
  EventLog events;
  StepReporter reporter;
};

Replicas::Replicas(const ReplicasOptions& options) : options_(options) {
  for (int replica = 0; replica < count(); ++replica)
    placements_.push_back(placement_of(options.spec, replica));
  disturbances_.push_back(options.first_disturbances);
  for (int replica = 1; replica < count(); ++replica) {
    disturbances_.push_back(disturbances_of(replica));
    others_.push_back(std::make_unique<Other>(options, placement(replica), replica));
  }
  if (options.spec.device_memory) limit_memory();
  sleepers_.resize(static_cast<std::size_t>(count()));
  communicators_ = open_group();
  make_outfits();
  if (options.spec.buffers == "sync") open_statistics();
}

Replicas::~Replicas() = default;

measure::Ledger& Replicas::ledger(int replica) const {
  return replica == 0 ? options_.session.ledger() : other(replica).ledger;
}

parallel::ComputeQueue& Replicas::compute(int replica) const {
  return replica == 0 ? options_.first_compute : *other(replica).compute;
}

measure::StepTimer& Replicas::timer(int replica) const {
  return replica == 0 ? options_.first_timer : *other(replica).timer;
}

int Replicas::sharing_device_of(int replica) const {
  return static_cast<int>(std::count_if(placements_.begin(), placements_.end(), [&](const Placement& other) {
    return other.device == placement(replica).device;
  }));
}

// A limit is the process's on a GPU, and asked for is one for each replica.
void Replicas::limit_memory() const {
  for (int replica = 0; replica < count(); ++replica)
    compute(replica).limit_memory(options_.spec.device_memory->count *
                                  static_cast<std::uint64_t>(sharing_device_of(replica)));
}

std::optional<std::string> Replicas::remark() const {
  const int on_first = sharing_device_of(0);
  if (!placement(0).device.is_cuda() || on_first == 1) return std::nullopt;
  return fmt::format(
      "not sliced: {} share a GPU, each on a stream of its own; each takes what the others leave, and "
      "together they are not {} times the hardware of one",
      base::counted(on_first, "replica"), on_first);
}

// Each records into its replica's ledger, and ends with the run. The run's server compares processes, and
// would call a replica that waits for another one a rank that waits for nobody: their own time-outs end them.
std::vector<std::unique_ptr<comm::Communicator>> Replicas::open_group() const {
  comm::OpenOptions open;
  open.timeout = base::from_seconds(options_.spec.timeout.count);
  std::vector<std::unique_ptr<comm::shared::Hands>> hands;
  for (int replica = 0; replica < count(); ++replica) hands.push_back(compute(replica).hands());
  auto group = comm::open_local_group(count(), open, std::move(hands));
  for (int replica = 0; replica < count(); ++replica) {
    const auto index = static_cast<std::size_t>(replica);
    auto& opened = group[index];
    opened = slow_down(std::move(opened), disturbances_[index]);
    opened = options_.session.track(
        std::make_unique<comm::RecordingCommunicator>(std::move(opened), ledger(replica)));
    opened = compute(replica).ordered(std::move(opened));
  }
  return group;
}

void Replicas::make_outfits() {
  const device::CpuPlacement cores = placement_on_cores(options_.spec);
  source_.threads = replica_threads(options_.spec);
  for (int replica = 0; replica < count(); ++replica) {
    const auto index = static_cast<std::size_t>(replica);
    parallel::ReplicaOutfit outfit;
    outfit.communicator = communicators_[index].get();
    outfit.compute = &compute(replica);
    outfit.device = placement(replica).device;
    outfit.timer = &timer(replica);
    if (replica > 0) outfit.memory = other(replica).memory;
    outfit.cpus = cores.workers[index].cpus;
    source_.outfits.push_back(std::move(outfit));
  }
  source_.on_failure = [this](int replica, const std::exception_ptr& error) { note_failure(replica, error); };
  source_.abort_others = [this] {
    for (const auto& channel : statistics_channels_) channel->abort("another replica failed");
  };
}

void Replicas::open_statistics() {
  auto group = open_group();
  for (int replica = 0; replica < count(); ++replica) {
    statistics_channels_.push_back(std::move(group[static_cast<std::size_t>(replica)]));
    statistics_.push_back(
        std::make_unique<parallel::StatisticsChannel>(*statistics_channels_.back(), timer(replica)));
  }
}

models::StatisticsExchange* Replicas::statistics(int replica) const {
  return statistics_.empty() ? nullptr : statistics_[static_cast<std::size_t>(replica)].get();
}

const parallel::ReplicaSource& Replicas::source(
    std::function<models::Model(const Placement&, models::StatisticsExchange*)> build) {
  source_.build = [this, build = std::move(build)](int replica) {
    const auto index = static_cast<std::size_t>(replica);
    models::Model model = build(placement(replica), statistics(replica));
    sleepers_[index] = slow_down(model, disturbances_[index]);
    return model;
  };
  return source_;
}

// The record names the replica that failed as a rank; rank 0 ends the run.
void Replicas::note_failure(int replica, const std::exception_ptr& error) const {
  if (replica == 0) return;
  try {
    report_failures(other(replica).events, options_.spec, [&]() -> Ending { std::rethrow_exception(error); });
  } catch (...) {  // it is thrown on by the strategy
    return;
  }
}

void Replicas::announce(const record::StartedEvent& started) {
  for (const auto& other : others_) other->events.write(started);
}

void Replicas::begin_step(std::int64_t step) {
  for (const auto& other : others_) {
    other->timer->begin_step(step);
    other->reporter.begin_anew();
  }
}

void Replicas::end_step(const StepFacts& facts, const std::vector<parallel::ReplicaStep>& steps) {
  for (std::size_t index = 0; index < others_.size(); ++index) {
    StepFacts own = facts;
    own.samples = steps[index + 1].samples;
    own.primitive_seconds = steps[index + 1].primitive_seconds;
    others_[index]->timer->end_step();
    others_[index]->reporter.ended(std::move(own));
    others_[index]->reporter.splits(others_[index]->timer->take());
  }
}

void Replicas::loss(double value) {
  for (const auto& other : others_) other->reporter.loss(value);
}

void Replicas::end_steps() {
  for (const auto& other : others_) other->reporter.splits(other->timer->take(true));
}

void Replicas::report_memory() {
  for (const auto& other : others_) other->events.write(memory_event(*other->memory));
}

void Replicas::report_totals(const std::optional<TracePlace>& trace) {
  for (const auto& other : others_) {
    other->events.write(ledger_event(other->ledger, other->group.rank, count()));
    if (trace) write_run_trace(*other->trace, *trace, other->group, nullptr, other->events);
  }
}

void Replicas::end(const record::EventBody& last) {
  for (const auto& other : others_) {
    other->events.write(last);
    other->events.flush();
  }
}

}  // namespace lockstep::train
