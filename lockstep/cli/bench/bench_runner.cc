#include "lockstep/cli/bench/bench_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/statistics.h"
#include "lockstep/base/units.h"
#include "lockstep/comm/channel.h"

namespace lockstep::cli {
namespace {

constexpr int kCopiesEachTime = 5;  // before the first cell and again after the last
constexpr int kMostWarmup = 20;
constexpr double kWarmupSeconds = 0.05;

bool any_all_reduce(const BenchOptions& options) {
  return std::find(options.collectives.begin(), options.collectives.end(), measure::Collective::all_reduce) !=
         options.collectives.end();
}

// "gloo 0.5.0 over tcp; interfaces: ..." is too long for a heading: the first statement is the version.
std::string first_statement(const std::string& detail) {
  return detail.substr(0, detail.find(';'));
}

std::string describe(const Cell& cell) {
  return fmt::format("{} {} {}", measure::name_of(cell.collective), base::format_bytes(cell.bytes()),
                     comm::name_of(cell.type));
}

}  // namespace

BenchRunner::BenchRunner(const BenchOptions& options, std::vector<OpenBackend> backends, Progress* progress)
    : options_(options),
      backends_(std::move(backends)),
      progress_(progress),
      cells_(plan_cells(options, backends_.front().communicator->group().world)) {
  for (std::size_t i = 0; i < backends_.size(); ++i) add_lanes(i);
  agreement_ = std::make_unique<Agreement>(*backends_.front().communicator);
}

void BenchRunner::add_lanes(std::size_t backend) {
  comm::Communicator& communicator = *backends_[backend].communicator;
  const LaneBytes bytes = largest_bytes(cells_, communicator.group().world);
  auto owned = std::make_unique<LaneMemory>(
      LaneMemory{communicator.allocate(bytes.whole), communicator.allocate(bytes.part)});
  const comm::Place place = owned->whole.place();
  bool owned_is_used = false;
  for (const BufferChoice kind : buffer_kinds(options_.buffer, place, any_all_reduce(options_))) {
    const bool is_owned = kind == BufferChoice::owned;
    owned_is_used |= is_owned;
    lanes_.emplace_back(communicator, is_owned ? *owned : private_memory());
    facts_.push_back({backends_[backend].name, std::string(communicator.link()),
                      first_statement(backends_[backend].detail), backends_[backend].algorithm, kind,
                      is_owned ? place : comm::Place::host});
  }
  if (owned_is_used) memories_.push_back(std::move(owned));
}

// One private memory serves all lanes that use such: they take turns.
const LaneMemory& BenchRunner::private_memory() {
  if (private_memory_ != nullptr) return *private_memory_;
  const LaneBytes bytes = largest_bytes(cells_, backends_.front().communicator->group().world);
  memories_.push_back(std::make_unique<LaneMemory>(
      LaneMemory{comm::allocate_host(bytes.whole), comm::allocate_host(bytes.part)}));
  private_memory_ = memories_.back().get();
  return *private_memory_;
}

BenchReport BenchRunner::run() {
  BenchReport report;
  report.workers = backends_.front().communicator->group().world;
  report.lanes = facts_;
  sample_copy(kCopiesEachTime);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (progress_ != nullptr) progress_->show(i, cells_.size(), describe(cells_[i]));
    for (CellResult& result : measure(cells_[i])) report.results.push_back(std::move(result));
  }
  sample_copy(kCopiesEachTime);
  if (progress_ != nullptr) progress_->clear();
  report.memory_copy_bytes_per_second =
      static_cast<double>(CopyBandwidth::kBytes) / base::median(copy_seconds_);
  return report;
}

std::vector<CellResult> BenchRunner::measure(const Cell& cell) {
  const Effort effort = plan_effort(warm_up(cell), options_.iterations);
  std::vector<CellResult> results;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    results.push_back({cell, lane, effort.batch, {}, std::nullopt});
  for (int sample = 0; sample < effort.samples; ++sample)
    for (CellResult& result : results)
      result.samples.push_back(time_batch(lanes_[result.lane], cell, effort.batch));
  for (CellResult& result : results) {
    result.samples = agreement_->largest(std::move(result.samples));
    if (options_.check) result.wrong = check(lanes_[result.lane], cell);
  }
  return results;
}

// Returns what an operation took on each lane, the same numbers on every rank.
std::vector<double> BenchRunner::warm_up(const Cell& cell) {
  std::vector<double> first, seconds;
  for (Lane& lane : lanes_) {
    lane.prepare(cell);
    first.push_back(time_batch(lane, cell, 1));
  }
  first = agreement_->largest(std::move(first));
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const int automatic = static_cast<int>(std::clamp(kWarmupSeconds / first[i], 1.0, double{kMostWarmup}));
    seconds.push_back(time_batch(lanes_[i], cell, std::max(1, options_.warmup.value_or(automatic))));
  }
  return agreement_->largest(std::move(seconds));
}

double BenchRunner::time_batch(Lane& lane, const Cell& cell, int batch) {
  comm::Communicator& communicator = lane.communicator();
  const std::optional<comm::Operation> operation = lane.operation(cell);
  communicator.run(comm::barrier(comm::Purpose::metric));
  if (!operation) return 0;
  const base::TimePoint start = base::now();
  for (int i = 0; i < batch; ++i) communicator.run(*operation);
  return base::to_seconds(base::now() - start) / batch;
}

std::uint64_t BenchRunner::check(Lane& lane, const Cell& cell) {
  lane.prepare(cell);
  time_batch(lane, cell, 1);
  return static_cast<std::uint64_t>(agreement_->sum(static_cast<double>(lane.count_wrong(cell))));
}

// All ranks copy at once, as they do in a collective; the slowest counts.
void BenchRunner::sample_copy(int times) {
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    backends_.front().communicator->run(comm::barrier(comm::Purpose::metric));
    seconds.push_back(copy_.measure());
  }
  seconds = agreement_->largest(std::move(seconds));
  copy_seconds_.insert(copy_seconds_.end(), seconds.begin(), seconds.end());
}

}  // namespace lockstep::cli
