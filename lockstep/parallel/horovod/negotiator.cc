#include "lockstep/parallel/horovod/negotiator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"
#include "lockstep/comm/operation.h"

namespace lockstep::parallel::horovod {
namespace {

constexpr std::size_t kWordsOfRequest = sizeof(Request) / sizeof(std::int64_t);

comm::Buffer words_buffer(void* data, std::size_t count) {
  return comm::host_buffer(data, count, comm::ElementType::i64);
}

}  // namespace

Negotiator::Negotiator(const NegotiatorOptions& options, std::span<const TensorFacts> tensors,
                       comm::Communicator& control)
    : options_(options),
      tensors_(tensors),
      control_(control),
      rank_(control.group().rank),
      world_(control.group().world),
      cache_(tensors.size(), options.cache_capacity),
      words_(words_per_rank(cache_.positions())),
      all_(words_ * static_cast<std::size_t>(world_)),
      here_(cache_.positions()) {
  figures_.bytes_per_cycle = all_.size() * sizeof(std::uint64_t);
  if (rank_ != 0) return;
  table_.emplace(tensors, world_);
  inspector_.emplace(options.stall, tensors.size());
}

CycleOutcome Negotiator::cycle(std::span<const std::size_t> fresh, bool wants_pause) {
  say_what_is_here(fresh, wants_pause);
  exchange_words();
  CycleOutcome outcome;
  outcome.pause = true;
  bool news = false;
  for (int rank = 0; rank < world_; ++rank) {
    outcome.pause = outcome.pause && words_of(rank).wants_pause();
    news = news || words_of(rank).has_news();
  }
  outcome.ready = take_cached();
  const std::vector<std::size_t> counts = requests_by_rank();
  if (news || std::any_of(counts.begin(), counts.end(), [](std::size_t count) { return count > 0; })) {
    const std::vector<std::size_t> answered = negotiate(counts);
    outcome.ready.insert(outcome.ready.end(), answered.begin(), answered.end());
  }
  if (rank_ == 0) inspect();
  return outcome;
}

CycleWords Negotiator::words_of(int rank) {
  return CycleWords(std::span(all_).subspan(words_ * static_cast<std::size_t>(rank), words_));
}

void Negotiator::say_what_is_here(std::span<const std::size_t> fresh, bool wants_pause) {
  requests_.clear();
  for (const std::size_t tensor : fresh) {
    if (const auto position = cache_.position_of(tensor)) {
      here_[*position] = true;
    } else {
      requests_.push_back({static_cast<std::uint32_t>(tensor),
                           static_cast<std::uint32_t>(tensors_[tensor].type), tensors_[tensor].bytes});
    }
  }
  CycleWords mine = words_of(rank_);
  mine.clear();
  mine.set_requests(requests_.size());
  if (wants_pause) mine.want_pause();
  if (!verdict_.empty()) mine.announce_news();
  for (std::size_t position = 0; position < cache_.used(); ++position) {
    if (here_[position]) mine.set(position);
  }
}

void Negotiator::exchange_words() {
  const comm::Buffer all = words_buffer(all_.data(), all_.size());
  const std::size_t bytes = words_ * sizeof(std::uint64_t);
  const comm::Buffer mine = all.part(bytes * static_cast<std::size_t>(rank_), bytes);
  control_.run(comm::all_gather(mine, all, comm::Purpose::control));
  ++figures_.cycles;
}

bool Negotiator::everywhere(std::size_t position) {
  for (int rank = 0; rank < world_; ++rank) {
    if (!words_of(rank).has(position)) return false;
  }
  return true;
}

std::vector<std::size_t> Negotiator::take_cached() {
  std::vector<std::size_t> ready;
  for (std::size_t position = 0; position < cache_.used(); ++position) {
    if (!here_[position] || !everywhere(position)) continue;
    here_[position] = false;
    ready.push_back(cache_.tensor_at(position));
  }
  return ready;
}

std::vector<std::size_t> Negotiator::requests_by_rank() {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < world_; ++rank) counts.push_back(words_of(rank).requests());
  return counts;
}

std::vector<std::size_t> Negotiator::negotiate(const std::vector<std::size_t>& counts) {
  gather_requests(counts);
  ++figures_.negotiations;
  std::vector<std::int32_t> answers;
  if (rank_ == 0) {
    for (const std::size_t tensor : table_->take_ready())
      answers.push_back(static_cast<std::int32_t>(tensor));
  }
  std::vector<std::size_t> ready = broadcast_answers(std::move(answers));
  for (const std::size_t tensor : ready) cache_.put(tensor);
  return ready;
}

void Negotiator::gather_requests(const std::vector<std::size_t>& counts) {
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  figures_.requests += total;
  if (total == 0) return;
  std::vector<std::size_t> words;
  for (const std::size_t count : counts) words.push_back(count * kWordsOfRequest);
  std::vector<Request> all(rank_ == 0 ? total : 0);
  control_.run(comm::gather(words_buffer(requests_.data(), requests_.size() * kWordsOfRequest),
                            words_buffer(all.data(), all.size() * kWordsOfRequest), 0, comm::Purpose::control,
                            words));
  if (rank_ != 0) return;
  std::size_t next = 0;
  for (int rank = 0; rank < world_; ++rank) {
    for (std::size_t count = 0; count < counts[static_cast<std::size_t>(rank)]; ++count)
      table_->add(rank, all[next++]);
  }
}

// The header: how many answers follow, and how long the verdict is, if there is one.
std::vector<std::size_t> Negotiator::broadcast_answers(std::vector<std::int32_t> answers) {
  std::array<std::int64_t, 2> header = {static_cast<std::int64_t>(answers.size()),
                                        static_cast<std::int64_t>(verdict_.size())};
  control_.run(comm::broadcast(words_buffer(header.data(), header.size()), 0, comm::Purpose::control));
  if (header[1] > 0) end_with_verdict(static_cast<std::size_t>(header[1]));
  answers.resize(static_cast<std::size_t>(header[0]));
  figures_.answers += answers.size();
  if (!answers.empty())
    control_.run(comm::broadcast(comm::host_buffer(answers.data(), answers.size(), comm::ElementType::i32), 0,
                                 comm::Purpose::control));
  return {answers.begin(), answers.end()};
}

void Negotiator::end_with_verdict(std::size_t length) {
  verdict_.resize(length);
  control_.run(comm::broadcast(comm::host_buffer(verdict_.data(), length, comm::ElementType::u8), 0,
                               comm::Purpose::control));
  throw base::Error(base::ExitCode::timed_out, verdict_);
}

std::vector<Waiting> Negotiator::waiting_in_cache() {
  std::vector<Waiting> waiting;
  for (std::size_t position = 0; position < cache_.used(); ++position) {
    std::vector<int> missing;
    for (int rank = 0; rank < world_; ++rank) {
      if (!words_of(rank).has(position)) missing.push_back(rank);
    }
    if (missing.empty() || missing.size() == static_cast<std::size_t>(world_)) continue;
    waiting.push_back({cache_.tensor_at(position), std::move(missing)});
  }
  return waiting;
}

void Negotiator::inspect() {
  std::vector<Waiting> waiting = waiting_in_cache();
  for (Waiting& one : table_->waiting()) waiting.push_back(std::move(one));
  const base::TimePoint now = base::now();
  inspector_->update(waiting, now);
  const std::vector<Waiting> slow = inspector_->to_warn_of(now);
  if (!slow.empty() && options_.warn)
    options_.warn(fmt::format("stalled for {}: {}, and other ranks wait for it",
                              base::format_duration(options_.stall.warning), missing_text(slow, tensors_)));
  const std::vector<Waiting> overdue = inspector_->overdue(now);
  if (overdue.empty() || !verdict_.empty()) return;
  verdict_ = fmt::format(
      "stalled: after {} {}, and other ranks wait for it. Likely cause: it is still busy (a longer "
      "--stall-shutdown or --timeout helps), it hangs in its backward, or it took another way through the "
      "model.",
      base::format_duration(options_.stall.shutdown), missing_text(overdue, tensors_));
}

}  // namespace lockstep::parallel::horovod
