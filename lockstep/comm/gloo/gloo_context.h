// gloo over connections that are there already. Whatever of gloo's insides that needs is in gloo_context.cc.
#pragma once

#include <gloo/context.h>
#include <gloo/transport/tcp/device.h>

#include <memory>
#include <string>
#include <vector>

#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

// gloo's event thread; `address` is this rank's.
std::shared_ptr<gloo::transport::tcp::Device> make_device(const std::string& address);

// A context whose pairs use `connections`, by rank, and which listens nowhere.
std::shared_ptr<gloo::Context> make_context(const std::shared_ptr<gloo::transport::tcp::Device>& device,
                                            const Group& group, std::vector<base::UniqueFd> connections,
                                            std::chrono::milliseconds timeout);

}  // namespace lockstep::comm
