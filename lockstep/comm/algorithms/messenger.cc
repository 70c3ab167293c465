#include "lockstep/comm/algorithms/messenger.h"

#include <utility>

namespace lockstep::comm {

Ticket Messenger::send(int peer, const void* data, std::size_t bytes) {
  traffic_.wire_bytes += bytes;
  traffic_.messages += 1;
  return {start_send(peer, data, bytes), false, bytes};
}

Ticket Messenger::receive(int peer, void* data, std::size_t bytes) {
  return {start_receive(peer, data, bytes), true, bytes};
}

void Messenger::wait(Ticket& ticket) {
  const Ticket waited = std::exchange(ticket, Ticket{});
  if (!waited) return;
  if (!waited.receives) return finish(waited);
  const base::TimePoint start = base::now();
  finish(waited);
  waits_.add(base::now() - start, waited.bytes);
}

Traffic Messenger::take_traffic() {
  traffic_.peer_wait = waits_.take_peer_wait();
  return std::exchange(traffic_, Traffic{});
}

}  // namespace lockstep::comm
