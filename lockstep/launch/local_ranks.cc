#include "lockstep/launch/local_ranks.h"

#include <algorithm>
#include <utility>

#include "lockstep/launch/pipe.h"
#include "lockstep/launch/process.h"

namespace lockstep::launch {
namespace {

class LocalRanks : public RankGroup {
 public:
  void start(const RankPlan& plan, OutputPump& pump) {
    const int world = static_cast<int>(plan.placement.workers.size());
    ranks_.reserve(plan.placement.workers.size());
    for (int rank = 0; rank < world; ++rank) start_rank(plan, rank, world, pump);
  }

  void watch(PollSet& polls) override {
    for (const Process& rank : ranks_)
      if (!rank.ended()) polls.watch(rank.poll_fd(), POLLIN, [](short) {});
  }

  std::vector<RankExit> collect() override {
    std::vector<RankExit> exits;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].ended()) continue;
      if (const auto status = ranks_[rank].status()) exits.push_back({static_cast<int>(rank), *status});
    }
    return exits;
  }

  bool all_ended() const override {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Process& rank) { return rank.ended(); });
  }

  std::vector<int> stopped() const override {
    std::vector<int> stopped;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (!ranks_[rank].ended() && is_stopped(ranks_[rank].pid())) stopped.push_back(static_cast<int>(rank));
    return stopped;
  }

  void signal_all(int signal_number) override {
    for (const Process& rank : ranks_) rank.signal_group(signal_number);
  }

 private:
  void start_rank(const RankPlan& plan, int rank, int world, OutputPump& pump) {
    Pipe output = make_pipe();
    Pipe error = make_pipe();
    ProcessOptions options;
    options.command = plan.command;
    options.environment = merged(merged(plan.inherited, plan.added), rank_variables(rank, world));
    options.cpus = plan.placement.workers[static_cast<std::size_t>(rank)].cpus;
    options.output_fd = output.write_end.get();
    options.error_fd = error.write_end.get();
    ranks_.emplace_back(options);
    pump.add_stream(rank, Channel::output, std::move(output.read_end));
    pump.add_stream(rank, Channel::error, std::move(error.read_end));
  }

  std::vector<Process> ranks_;
};

}  // namespace

std::unique_ptr<RankGroup> start_local_ranks(const RankPlan& plan, OutputPump& pump) {
  auto ranks = std::make_unique<LocalRanks>();
  ranks->start(plan, pump);
  return ranks;
}

}  // namespace lockstep::launch
