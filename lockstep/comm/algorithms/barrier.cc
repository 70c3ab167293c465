// Barrier by dissemination: in step k, rank r tells r + 2^k that it has arrived and hears it from r - 2^k
// (modulo n). After ceil(log2 n) steps everyone has heard, directly or not, of everyone. The messages are
// empty: no wire bytes, ceil(log2 n) messages a rank.
#include "lockstep/comm/algorithms/collectives.h"

namespace lockstep::comm {

void barrier_dissemination(CollectiveContext& context) {
  for (int distance = 1; distance < context.world(); distance *= 2) {
    Ticket incoming = context.messenger.receive(context.neighbour(-distance), nullptr, 0);
    Ticket outgoing = context.messenger.send(context.neighbour(distance), nullptr, 0);
    context.messenger.wait(incoming);
    context.messenger.wait(outgoing);
  }
}

}  // namespace lockstep::comm
