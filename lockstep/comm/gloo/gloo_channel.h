// The gloo backend's channel: our collectives over gloo's messages, or gloo's own all-reduce when asked for.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>

#include "lockstep/comm/algorithms/collective_context.h"
#include "lockstep/comm/backend.h"
#include "lockstep/comm/channel.h"
#include "lockstep/comm/gloo/gloo_messenger.h"
#include "lockstep/comm/gloo/native_all_reduce.h"
#include "lockstep/comm/gloo/peer_watch.h"

namespace lockstep::comm {

// What all channels split from one have in common.
struct GlooSetup {
  Store& store;
  std::shared_ptr<gloo::transport::tcp::Device> device;
  std::string address;  // of this rank
  std::string key;      // the run's
  std::string algorithm;
};

class GlooChannel : public Channel {
 public:
  // Collective over the group: connects every rank with every other. `prefix` is a name of this channel's own
  // in the store.
  GlooChannel(GlooSetup setup, const Group& group, std::string prefix, base::Deadline deadline);
  ~GlooChannel() override;

  const Group& group() const override { return group_; }
  std::string_view backend() const override { return "gloo"; }
  std::string_view link() const override { return "tcp"; }
  measure::Movement execute(const Operation& operation, base::Deadline deadline) override;
  std::unique_ptr<Channel> split(int colour, int key, base::Deadline deadline) override;
  void abort() noexcept override;

 private:
  measure::Movement run_ours(const Operation& operation);
  measure::Movement run_native(const Operation& operation, base::Deadline deadline);
  void abort_connections() noexcept;

  GlooSetup setup_;
  Group group_;
  std::string prefix_;
  int splits_ = 0;
  std::vector<base::UniqueFd> connections_;  // until the watch has them
  std::shared_ptr<gloo::Context> context_;
  GlooMessenger messenger_;
  Scratch scratch_;
  std::unique_ptr<NativeAllReduce> native_;  // only when asked for
  std::unique_ptr<PeerWatch> watch_;         // null for one rank alone
};

}  // namespace lockstep::comm
