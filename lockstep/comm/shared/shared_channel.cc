#include "lockstep/comm/shared/shared_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/comm/shared/exchange.h"

namespace lockstep::comm::shared {
namespace {

using base::CommError;

constexpr int kSpinsWithOwnCore = 2000;
constexpr int kSpinsWithSharedCore = 20;

// What a rank tells the others when a group is split.
struct SplitRequest {
  int colour;
  int key;
  int local_rank;
};

// The parent's ranks of one colour, in the order of the new group.
std::vector<int> members_of(const std::vector<SplitRequest>& requests, int colour) {
  std::vector<int> members;
  for (int rank = 0; rank < static_cast<int>(requests.size()); ++rank)
    if (requests[static_cast<std::size_t>(rank)].colour == colour) members.push_back(rank);
  std::stable_sort(members.begin(), members.end(), [&requests](int a, int b) {
    return requests[static_cast<std::size_t>(a)].key < requests[static_cast<std::size_t>(b)].key;
  });
  return members;
}

template <typename T>
std::vector<T> all_gather_values(Channel& channel, const T& mine, base::Deadline deadline) {
  std::vector<T> all(static_cast<std::size_t>(channel.group().world));
  T copy = mine;
  channel.execute(
      all_gather(host_buffer(&copy, sizeof(T), ElementType::u8),
                 host_buffer(all.data(), sizeof(T) * all.size(), ElementType::u8), Purpose::control),
      deadline);
  return all;
}

}  // namespace

SharedChannel::SharedChannel(std::unique_ptr<Fabric> fabric, Group group, base::Deadline deadline)
    : fabric_(std::move(fabric)),
      group_(std::move(group)),
      block_(fabric_->control(), group_.world),
      give_up_at_(deadline.at()),
      waiter_(kSpinsWithSharedCore, [this] { check_still_possible(); }) {
  Slot& own = block_.slot(group_.rank);
  ::sched_getaffinity(0, sizeof(own.cores), &own.cores);
  execute(barrier(), deadline);
  choose_spins();
}

// Spinning helps only a rank that has a core to itself.
void SharedChannel::choose_spins() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int rank = 0; rank < group_.world; ++rank) CPU_OR(&all, &all, &block_.slot(rank).cores);
  waiter_.set_spins(CPU_COUNT(&all) >= group_.world ? kSpinsWithOwnCore : kSpinsWithSharedCore);
}

measure::Movement SharedChannel::execute(const Operation& operation, base::Deadline deadline) {
  give_up_at_ = deadline.at();
  running_ = &operation;
  Exchange exchange(*this, operation);
  return exchange.run();
}

Hands& SharedChannel::hands_for(bool on_device) {
  if (!on_device) return host_hands_;
  if (Hands* hands = fabric_->device_hands()) return *hands;
  throw CommError(CommError::Kind::failed,
                  fmt::format("backend {} cannot reach a GPU's memory here", backend()));
}

void SharedChannel::copy(const Buffer& to, const Buffer& from) {
  if (from.bytes == 0) return;
  Hands& hands = hands_for(to.place == Place::device || from.place == Place::device);
  hands.copy(to.data, from.data, from.bytes);
  hands.finish();
}

std::string SharedChannel::running() const {
  return describe(*running_);
}

void SharedChannel::check_still_possible() const {
  const std::uint32_t aborted = block_.header().aborted.load(std::memory_order_acquire);
  if (aborted != 0)
    throw CommError(CommError::Kind::collateral, fmt::format("rank {}: {} was ended because rank {} gave up",
                                                             group_.rank, running(), aborted - 1));
  if (const std::optional<int> lost = lost_rank())
    throw CommError(CommError::Kind::peer_lost,
                    fmt::format("rank {}: {} cannot be completed: the process of rank {} has ended",
                                group_.rank, running(), *lost));
  if (base::now() >= give_up_at_) fail_timed_out();
}

// In a collective, the rank whose process ended first, as far as anybody noticed: ranks that end because of
// it are not to blame. Between two ranks only the other one matters: a third may have finished and left.
std::optional<int> SharedChannel::lost_rank() const {
  if (point_to_point(running_->collective))
    return fabric_->alive(running_->root) ? std::nullopt : std::optional(running_->root);
  std::atomic<std::uint32_t>& lost = block_.header().lost;
  for (int rank = 0; rank < group_.world && lost.load(std::memory_order_acquire) == 0; ++rank) {
    std::uint32_t nobody = 0;
    if (!fabric_->alive(rank)) lost.compare_exchange_strong(nobody, static_cast<std::uint32_t>(rank) + 1);
  }
  const std::uint32_t found = lost.load(std::memory_order_acquire);
  return found == 0 ? std::nullopt : std::optional<int>(static_cast<int>(found) - 1);
}

void SharedChannel::fail_timed_out() const {
  std::vector<std::string> missing;
  for (int rank = 0; rank < group_.world; ++rank)
    if (!reached(block_.slot(rank).arrived.load(std::memory_order_acquire), phase_))
      missing.push_back(std::to_string(rank));
  throw CommError(CommError::Kind::timed_out,
                  fmt::format("rank {}: {} timed out; not arrived: rank {}", group_.rank, running(),
                              missing.empty() ? "none" : base::join(missing, ", ")));
}

Allocation SharedChannel::allocate(std::size_t bytes, base::Deadline deadline) {
  Invitation invitation{};
  if (group_.rank == 0) invitation = fabric_->create_segment(bytes);
  execute(broadcast(host_buffer(invitation.data(), invitation.size(), ElementType::u8), 0, Purpose::control),
          deadline);
  if (group_.rank != 0) fabric_->open_segment(invitation, bytes);
  execute(barrier(), deadline);
  return fabric_->claim_segment();
}

std::unique_ptr<Channel> SharedChannel::split(int colour, int key, base::Deadline deadline) {
  const auto requests = all_gather_values(*this, SplitRequest{colour, key, group_.local_rank}, deadline);
  const std::vector<int> members = members_of(requests, colour);
  const bool leads = colour >= 0 && members.front() == group_.rank;
  std::unique_ptr<Fabric> made = leads ? fabric_->create(static_cast<int>(members.size())) : nullptr;
  const auto invitations = all_gather_values(*this, made ? made->invitation() : Invitation{}, deadline);
  Group group = group_;
  if (colour >= 0) {
    group.world = static_cast<int>(members.size());
    group.rank = static_cast<int>(std::find(members.begin(), members.end(), group_.rank) - members.begin());
    group.local_world = group.world;
    group.local_rank = group.rank;
    if (!leads)
      made = fabric_->accept(invitations[static_cast<std::size_t>(members.front())], group.rank, group.world);
  }
  execute(barrier(), deadline);  // everybody has accepted: creators may let go
  if (colour < 0) return nullptr;
  return std::make_unique<SharedChannel>(std::move(made), group, deadline);
}

// Wakes whoever waits for this rank. The others look by themselves within 20 ms; waking them would touch a
// page for every pair of ranks.
void SharedChannel::abort() noexcept {
  block_.header().aborted.store(static_cast<std::uint32_t>(group_.rank) + 1, std::memory_order_release);
  for (int rank = 0; rank < group_.world; ++rank) {
    wake_all(block_.slot(rank).arrived);
    wake_all(block_.mailbox(group_.rank, rank).posted);
    wake_all(block_.mailbox(group_.rank, rank).taken);
    wake_all(block_.mailbox(rank, group_.rank).posted);
    wake_all(block_.mailbox(rank, group_.rank).taken);
  }
}

}  // namespace lockstep::comm::shared
