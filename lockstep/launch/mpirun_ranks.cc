#include "lockstep/launch/mpirun_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "lockstep/base/clock.h"
#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/launch/adopted_rank.h"
#include "lockstep/launch/line_splitter.h"
#include "lockstep/launch/mpirun_children.h"
#include "lockstep/launch/mpirun_command.h"
#include "lockstep/launch/pipe.h"
#include "lockstep/launch/private_directory.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/rank_output.h"

namespace lockstep::launch {
namespace {

constexpr std::size_t kMostHeldBytes = 64 * 1024;
// mpirun starts its ranks one right after another; on a machine that is out of breath, less so.
constexpr base::Nanoseconds kBetweenRanks = std::chrono::seconds(3);
// A rank that dies is known by its number alone: so they are looked for often until all have been seen.
constexpr base::Nanoseconds kBetweenSearches = std::chrono::milliseconds(20);

void make_named_pipe(const std::filesystem::path& path) {
  if (mkfifo(path.c_str(), 0600) != 0)
    throw base::StoreError("cannot make " + path.string() + ": " + base::errno_text());
}

base::UniqueFd open_named_pipe(const std::filesystem::path& path, int mode) {
  make_named_pipe(path);
  base::UniqueFd fd(open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC));
  if (!fd) throw base::StoreError("cannot open " + path.string() + ": " + base::errno_text());
  return fd;
}

// The bytes there are, without waiting.
std::string read_available(int fd) {
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t count = 0; (count = read(fd, bytes.data(), bytes.size())) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(count));
  return text;
}

class MpirunRanks : public RankGroup {
 public:
  MpirunRanks(const RankPlan& plan, OutputPump& pump) : ranks_(plan.placement.workers.size()) {
    open_pipes(pump);
    start_mpirun(plan);
  }

  void watch(PollSet& polls) override {
    polls.watch(word_.get(), POLLIN, [](short) {});
    if (held_from_) polls.watch(held_from_.get(), POLLIN, [this](short events) { hold(events); });
    if (!mpirun_->ended()) polls.watch(mpirun_->poll_fd(), POLLIN, [](short) {});
    for (const AdoptedRank& rank : ranks_) rank.watch(polls);
  }

  std::vector<RankExit> collect() override;
  bool all_ended() const override;
  std::optional<base::Deadline> due() const override;
  std::vector<int> stopped() const override;
  void signal_all(int signal_number) override;
  std::string starter_output() const override { return held_; }

 private:
  void open_pipes(OutputPump& pump);
  void start_mpirun(const RankPlan& plan);
  void hold(short events);
  void listen();
  void find_silent();
  std::vector<std::size_t> newly_gone() const;
  bool vanished(std::size_t rank) const;
  void wait_for_mpirun() const;
  void collect_mpirun(std::vector<RankExit>& exits);
  void collect_rank(std::size_t rank, std::vector<RankExit>& exits);
  bool all_started() const;

  PrivateDirectory directory_;
  base::UniqueFd word_;
  LineSplitter words_;
  base::UniqueFd held_from_;
  std::string held_;
  std::deque<AdoptedRank> ranks_;
  base::UniqueFd loopback_only_;   // mpirun loads it
  std::optional<Process> mpirun_;  // destroyed first: its ranks die with it
  bool killed_before_ = false;
  std::optional<base::Deadline> others_until_;  // when all that mpirun starts have been seen
};

// The pipe for words is opened for writing too, so that it does not end between two ranks.
void MpirunRanks::open_pipes(OutputPump& pump) {
  word_ = open_named_pipe(word_pipe(directory_.path()), O_RDWR);
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    pump.add_stream(rank, Channel::output, open_named_pipe(output_pipe(directory_.path(), rank), O_RDONLY));
    pump.add_stream(rank, Channel::error, open_named_pipe(error_pipe(directory_.path(), rank), O_RDONLY));
  }
}

Variables variables_of_ranks(const RankPlan& plan, const std::filesystem::path& directory) {
  std::vector<std::vector<int>> cpus;
  for (const device::WorkerCpus& worker : plan.placement.workers) cpus.push_back(worker.cpus);
  return merged(plan.added, {{kRankOutputVariable, directory.string()},
                             {kRankCpusVariable, encode_rank_cpus(cpus)},
                             {kLauncherPidVariable, std::to_string(getpid())}});
}

// mpirun and its ranks ask hwloc for the machine, whose OpenCL part may wake a driver that takes its time and
// leaves a cache in the user's home. Nothing here needs it; whoever has set the variable is obeyed.
const Variables kHwlocWithoutOpenCl = {{"HWLOC_COMPONENTS", "-opencl"}};

// See loopback_only.cc. By way of this process's open file: the loader would cut its place at a space or
// colon, and look for the rest in the current directory.
base::UniqueFd stay_on_loopback(Variables& variables) {
  base::UniqueFd library(open((base::plugin_directory() / "loopback_only.so").c_str(), O_PATH | O_CLOEXEC));
  if (!library) return library;
  std::string& loaded = variables["LD_PRELOAD"];
  loaded = fmt::format("/proc/{}/fd/{}{}{}", getpid(), library.get(), loaded.empty() ? "" : ":", loaded);
  return library;
}

void MpirunRanks::start_mpirun(const RankPlan& plan) {
  const Variables added = variables_of_ranks(plan, directory_.path());
  MpirunCommandOptions command;
  const std::string search_path = base::environment("PATH").value_or("/usr/bin:/bin");
  command.mpirun = find_mpirun(search_path);
  command.workers = static_cast<int>(ranks_.size());
  command.directory = directory_.path();
  command.exported = names_of(added);
  command.inherited = names_of(plan.inherited);
  command.command = plan.command;
  Pipe output = make_pipe();
  ProcessOptions options;
  options.command = mpirun_command(command);
  options.environment = merged(kHwlocWithoutOpenCl, merged(without_other_launchers(plan.inherited), added));
  options.environment["PATH"] = search_path;  // mpirun looks for programs of its own
  loopback_only_ = stay_on_loopback(options.environment);
  options.output_fd = options.error_fd = output.write_end.get();
  mpirun_.emplace(options);
  held_from_ = std::move(output.read_end);
  fcntl(held_from_.get(), F_SETFL, O_NONBLOCK);
}

void MpirunRanks::hold(short events) {
  const std::string text = read_available(held_from_.get());
  held_.append(text, 0, kMostHeldBytes - std::min(kMostHeldBytes, held_.size()));
  if (text.empty() && (events & POLLHUP) != 0) held_from_.reset();
}

void MpirunRanks::listen() {
  words_.feed(read_available(word_.get()), [this](std::string_view line) {
    const std::optional<RankWord> word = decode_rank_word(line);
    if (!word || word->rank < 0 || static_cast<std::size_t>(word->rank) >= ranks_.size()) return;
    AdoptedRank& rank = ranks_[static_cast<std::size_t>(word->rank)];
    if (word->kind == RankWord::Kind::start)
      rank.started(word->number);
    else
      rank.left_with(word->number);
  });
}

// A rank speaks when its program runs, and loading that may take seconds, in which it may die.
void MpirunRanks::find_silent() {
  if (all_started() || mpirun_->ended()) return;
  const std::map<int, pid_t> children = children_by_rank(mpirun_->pid());
  if (!children.empty() && !others_until_) others_until_ = base::Deadline(kBetweenRanks);
  for (const auto& [rank, pid] : children) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= ranks_.size()) continue;
    AdoptedRank& adopted = ranks_[static_cast<std::size_t>(rank)];
    if (adopted.has_started()) continue;
    adopted.started(pid);
    others_until_ = base::Deadline(kBetweenRanks);
  }
  if (!others_until_ || !others_until_->passed()) return;
  for (AdoptedRank& rank : ranks_)
    if (!rank.has_started()) rank.lost();
}

// A rank announces its exit code before it is gone: so first who is gone, then what was said. A rank that is
// gone without a word may have died with mpirun, whose end is seen a little later.
std::vector<RankExit> MpirunRanks::collect() {
  std::vector<RankExit> exits;
  listen();
  find_silent();
  const std::vector<std::size_t> gone = newly_gone();
  listen();
  if (std::any_of(gone.begin(), gone.end(), [this](std::size_t i) { return vanished(i); })) wait_for_mpirun();
  collect_mpirun(exits);
  for (const std::size_t i : gone) collect_rank(i, exits);
  for (std::size_t i = 0; mpirun_->ended() && i < ranks_.size(); ++i)
    if (!ranks_[i].ended() && !ranks_[i].has_started()) collect_rank(i, exits);
  return exits;
}

std::vector<std::size_t> MpirunRanks::newly_gone() const {
  std::vector<std::size_t> gone;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    if (!ranks_[i].ended() && ranks_[i].is_gone()) gone.push_back(i);
  return gone;
}

bool MpirunRanks::vanished(std::size_t rank) const {
  return ranks_[rank].status().kind == ExitStatus::Kind::vanished;
}

void MpirunRanks::wait_for_mpirun() const {
  constexpr int kMilliseconds = 50;
  pollfd end{mpirun_->poll_fd(), POLLIN, 0};
  if (!mpirun_->ended()) poll(&end, 1, kMilliseconds);
}

void MpirunRanks::collect_rank(std::size_t rank, std::vector<RankExit>& exits) {
  ranks_[rank].mark_ended();
  exits.push_back({static_cast<int>(rank), ranks_[rank].status()});
}

// Its own failure comes first: ranks that die with it are not to blame.
void MpirunRanks::collect_mpirun(std::vector<RankExit>& exits) {
  if (mpirun_->ended()) return;
  const std::optional<ExitStatus> status = mpirun_->status();
  if (!status) return;
  hold(POLLHUP);
  if (!status->ok()) exits.push_back({RankExit::kMpirun, *status});
}

bool MpirunRanks::all_started() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const AdoptedRank& rank) { return rank.has_started(); });
}

bool MpirunRanks::all_ended() const {
  return mpirun_->ended() &&
         std::all_of(ranks_.begin(), ranks_.end(), [](const AdoptedRank& rank) { return rank.ended(); });
}

std::optional<base::Deadline> MpirunRanks::due() const {
  if (all_started() || mpirun_->ended()) return std::nullopt;
  return base::Deadline(kBetweenSearches);
}

std::vector<int> MpirunRanks::stopped() const {
  std::vector<int> stopped;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    if (ranks_[i].stopped()) stopped.push_back(static_cast<int>(i));
  return stopped;
}

// mpirun ends by itself, and tidily, when its ranks have. It is asked to only when it may hold ranks that
// have not reported yet, and forced to only when that did not help.
void MpirunRanks::signal_all(int signal_number) {
  for (const AdoptedRank& rank : ranks_) rank.signal(signal_number);
  const bool force = signal_number == SIGKILL && std::exchange(killed_before_, true);
  if (force)
    mpirun_->signal_group(SIGKILL);
  else if (signal_number == SIGKILL || (signal_number == SIGTERM && !all_started()))
    mpirun_->signal_group(SIGTERM);
}

}  // namespace

std::unique_ptr<RankGroup> start_mpirun_ranks(const RankPlan& plan, OutputPump& pump) {
  return std::make_unique<MpirunRanks>(plan, pump);
}

}  // namespace lockstep::launch
