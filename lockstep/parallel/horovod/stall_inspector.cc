#include "lockstep/parallel/horovod/stall_inspector.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::parallel::horovod {
namespace {

constexpr std::size_t kMostNames = 6;  // of tensors in one message

struct Missing {
  std::vector<int> ranks;
  std::vector<std::string> names;
};

std::vector<Missing> by_ranks(std::span<const Waiting> waiting, std::span<const TensorFacts> tensors) {
  std::vector<Missing> groups;
  for (const Waiting& one : waiting) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Missing& other) { return other.ranks == one.missing; });
    if (group == groups.end()) group = groups.insert(groups.end(), {one.missing, {}});
    group->names.push_back(tensors[one.tensor].name);
  }
  return groups;
}

std::string names_text(std::vector<std::string> names) {
  const std::size_t left_out = names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - left_out);
  return base::join(names, ", ") + (left_out == 0 ? "" : fmt::format(" and {} more", left_out));
}

}  // namespace

StallInspector::StallInspector(const StallLimits& limits, std::size_t tensors)
    : limits_(limits), watches_(tensors) {}

void StallInspector::update(std::span<const Waiting> waiting, base::TimePoint now) {
  std::vector<bool> still(watches_.size());
  for (const Waiting& one : waiting) {
    still[one.tensor] = true;
    Watch& watch = watches_[one.tensor];
    if (!watch.waits) watch = {now, true, false};
  }
  for (const Waiting& before : waiting_) {
    if (!still[before.tensor]) watches_[before.tensor].waits = false;
  }
  waiting_.assign(waiting.begin(), waiting.end());
}

std::vector<Waiting> StallInspector::to_warn_of(base::TimePoint now) {
  std::vector<Waiting> found;
  if (limits_.warning.count() == 0) return found;
  for (const Waiting& one : waiting_) {
    Watch& watch = watches_[one.tensor];
    if (watch.warned || now - watch.since < limits_.warning) continue;
    watch.warned = true;
    found.push_back(one);
  }
  return found;
}

std::vector<Waiting> StallInspector::overdue(base::TimePoint now) const {
  std::vector<Waiting> found;
  for (const Waiting& one : waiting_) {
    if (now - watches_[one.tensor].since >= limits_.shutdown) found.push_back(one);
  }
  return found;
}

std::string missing_text(std::span<const Waiting> waiting, std::span<const TensorFacts> tensors) {
  std::vector<std::string> parts;
  for (const Missing& missing : by_ranks(waiting, tensors))
    parts.push_back(fmt::format("{} {} not produced {}", comm::rank_list(missing.ranks),
                                missing.ranks.size() == 1 ? "has" : "have", names_text(missing.names)));
  return base::join(parts, "; ");
}

}  // namespace lockstep::parallel::horovod
