// Barrier by dissemination: in step k, rank r tells r + 2^k that it has arrived and hears it from r - 2^k
// (modulo n). After ceil(log2 n) steps everyone has heard, directly or not, of everyone. The messages are
// empty: no wire bytes, ceil(log2 n) messages a rank.
#include "lockstep/comm/algorithms/collectives.h"

namespace lockstep::comm {

void barrier_dissemination(Exchange& exchange) {
  for (int distance = 1; distance < exchange.world(); distance *= 2) {
    Ticket incoming = exchange.messenger.receive(exchange.neighbour(-distance), nullptr, 0);
    Ticket outgoing = exchange.messenger.send(exchange.neighbour(distance), nullptr, 0);
    exchange.messenger.wait(incoming);
    exchange.messenger.wait(outgoing);
  }
}

}  // namespace lockstep::comm
