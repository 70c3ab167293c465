#include "lockstep/comm/nccl/host_id.h"

#include <fmt/format.h>

#include <cstdlib>

#include "lockstep/base/environment.h"

namespace lockstep::comm {
namespace {

constexpr const char* kHostId = "NCCL_HOSTID";

}  // namespace

void separate_from_sharers(const Group& group, const DevicePlace& place) {
  if (!place.shared || base::environment(kHostId)) return;
  ::setenv(kHostId, fmt::format("{}-rank{}", group.host, group.rank).c_str(), 1);
}

}  // namespace lockstep::comm
