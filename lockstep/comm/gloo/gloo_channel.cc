#include "lockstep/comm/gloo/gloo_channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gloo/common/error.h>

#include <algorithm>

#include "lockstep/comm/algorithms/collectives.h"
#include "lockstep/comm/gloo/connections.h"
#include "lockstep/comm/gloo/gloo_context.h"
#include "lockstep/measure/collective.h"

namespace lockstep::comm {
namespace {

// gloo keeps its sockets to itself; with duplicates of them a peer's death is noticed in the middle of a
// message, and operations are given up from another thread.
std::vector<base::UniqueFd> duplicates(const std::vector<base::UniqueFd>& connections) {
  std::vector<base::UniqueFd> copies;
  for (const base::UniqueFd& connection : connections)
    copies.emplace_back(connection ? ::fcntl(connection.get(), F_DUPFD_CLOEXEC, 0) : -1);
  return copies;
}

// What every rank says of itself when a group is split.
struct Member {
  std::int64_t colour;
  std::int64_t key;
  std::int64_t rank;
  std::int64_t host;  // a number for the host's name
};
constexpr std::size_t kMemberFields = 4;

// FNV-1a: the same on every rank, whatever it was compiled with.
std::int64_t number_of(const std::string& host) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : host) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return static_cast<std::int64_t>(hash);
}

// The members of this rank's colour in their new order.
std::vector<Member> members_of(std::vector<Member> all, std::int64_t colour) {
  std::erase_if(all, [&](const Member& member) { return member.colour != colour; });
  std::stable_sort(all.begin(), all.end(),
                   [](const Member& one, const Member& other) { return one.key < other.key; });
  return all;
}

Group group_of(const std::vector<Member>& members, const Group& parent) {
  Group group = parent;
  group.world = static_cast<int>(members.size());
  group.local_world = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].rank == parent.rank) {
      group.rank = static_cast<int>(i);
      group.local_rank = group.local_world;
    }
    if (members[i].host == number_of(parent.host)) ++group.local_world;
  }
  return group;
}

}  // namespace

GlooChannel::GlooChannel(GlooSetup setup, const Group& group, std::string prefix, base::Deadline deadline)
    : setup_(std::move(setup)),
      group_(group),
      prefix_(std::move(prefix)),
      connections_(connect_ranks(setup_.store, group_, {setup_.address, setup_.key, prefix_, deadline})),
      context_(make_context(setup_.device, group_, duplicates(connections_),
                            std::chrono::milliseconds(deadline.left_milliseconds()))),
      messenger_(context_, setup_.device) {
  if (setup_.algorithm.starts_with("native-"))
    native_ = std::make_unique<NativeAllReduce>(context_, setup_.algorithm);
  if (group.world == 1) return;
  watch_ = std::make_unique<PeerWatch>(std::move(connections_), [this](int peer) { messenger_.lose(peer); });
}

GlooChannel::~GlooChannel() {
  native_.reset();
  watch_.reset();
}

measure::Movement GlooChannel::execute(const Operation& operation, base::Deadline deadline) {
  messenger_.begin(operation, deadline);
  try {
    const bool native = native_ != nullptr && group_.world > 1 && NativeAllReduce::can_run(operation);
    const measure::Movement movement = native ? run_native(operation, deadline) : run_ours(operation);
    messenger_.end();
    return movement;
  } catch (...) {
    // Peers must not wait for what this rank will not send any more.
    abort_connections();
    messenger_.end();
    throw;
  }
}

measure::Movement GlooChannel::run_ours(const Operation& operation) {
  AlgorithmOptions options;
  if (setup_.algorithm == "ring") options.small_bytes = 0;
  CollectiveContext context{messenger_, scratch_, options};
  run_collective(context, operation);
  const Traffic traffic = messenger_.take_traffic();
  measure::Movement movement;
  movement.wire_bytes = traffic.wire_bytes;
  movement.messages = traffic.messages;
  movement.peer_wait = traffic.peer_wait;
  return movement;
}

measure::Movement GlooChannel::run_native(const Operation& operation, base::Deadline deadline) {
  try {
    native_->run(operation, std::chrono::milliseconds(deadline.left_milliseconds()));
  } catch (const gloo::Exception& error) {
    messenger_.fail(-1, error.what());
  }
  measure::Movement movement;
  movement.wire_bytes =
      measure::estimated_wire_bytes(operation.collective, operation.input.bytes, group_.world, false);
  movement.messages = static_cast<std::uint64_t>(2 * (group_.world - 1));
  movement.estimated = true;
  movement.peer_wait_known = false;
  return movement;
}

std::unique_ptr<Channel> GlooChannel::split(int colour, int key, base::Deadline deadline) {
  Member self{colour, key, group_.rank, number_of(group_.host)};
  std::vector<Member> all(static_cast<std::size_t>(group_.world));
  execute(all_gather(host_buffer(&self, kMemberFields, ElementType::i64),
                     host_buffer(all.data(), kMemberFields * all.size(), ElementType::i64), Purpose::control),
          deadline);
  const std::string prefix = fmt::format("{}/split{}.{}", prefix_, splits_++, colour);
  if (colour < 0) return nullptr;
  return std::make_unique<GlooChannel>(setup_, group_of(members_of(std::move(all), colour), group_), prefix,
                                       deadline);
}

void GlooChannel::abort() noexcept {
  messenger_.abort();
  abort_connections();
}

void GlooChannel::abort_connections() noexcept {
  if (watch_ != nullptr) watch_->shut_down();
}

}  // namespace lockstep::comm
