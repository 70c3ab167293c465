#include "lockstep/comm/nccl/shared_device.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace lockstep::comm {
namespace {

struct Setting {
  const char* variable;
  const char* value;
};

// Ranks must agree on these, so all of the group set them. A block is what NCCL moves a channel with.
constexpr std::array kSmall = {Setting{"NCCL_MAX_CTAS", "1"}};

void set_unless_given(const char* variable, const std::string& value) {
  ::setenv(variable, value.c_str(), 0);
}

}  // namespace

bool any_share_a_device(const Group& group, const DevicePlace& place, Store& store, base::Deadline deadline) {
  const auto key_of = [](int rank) { return fmt::format("shares/{}", rank); };
  store.set(key_of(group.rank), place.shared ? "yes" : "no");
  bool any = place.shared;
  for (int rank = 0; rank < group.world; ++rank)
    any = value_of_rank("nccl", store, group, rank, key_of(rank), deadline) == "yes" || any;
  return any;
}

void adapt_to_shared_devices(const Group& group, bool shares_device) {
  if (shares_device) set_unless_given("NCCL_HOSTID", fmt::format("{}-rank{}", group.host, group.rank));
  for (const Setting& setting : kSmall) set_unless_given(setting.variable, setting.value);
}

}  // namespace lockstep::comm
