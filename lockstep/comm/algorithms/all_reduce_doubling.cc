// All-reduce by recursive doubling, for payloads so small that steps cost more than bytes.
//
// The *core* is the largest power of two p of ranks; ranks from p on are *extras*. Each extra hands its
// tensor to rank r-p, which adds it. Then, in step k, every core rank exchanges its whole partial result with
// the rank whose number differs in bit k: after log2 p steps all have the sum. Extras get it back at the end.
//
// Both partners of an exchange combine in the same order, the lower rank's part first, so they compute the
// same bits even for operations that are not commutative in all bits (the maximum of +0 and -0).
//
// A core rank sends S log2 p bytes, and S more if it serves an extra; an extra sends S.
#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/algorithms/collectives.h"

namespace lockstep::comm {
namespace {

class DoublingAllReduce {
 public:
  DoublingAllReduce(Exchange& exchange, const Operation& operation)
      : operation_(operation), exchange_(exchange), bytes_(operation.input.bytes) {
    while (core_ * 2 <= exchange.world()) core_ *= 2;
    partial_ = bytes_at(operation.output);
    other_ = exchange.scratch.take(bytes_);
    copy_unless_same(partial_, operation.input.data, bytes_);
  }

  void run() {
    if (exchange_.rank() >= core_) return run_extra();
    const int extra = exchange_.rank() + core_;
    const bool serves = extra < exchange_.world();
    if (serves) take_in(extra);
    for (int distance = 1; distance < core_; distance *= 2) swap_with(exchange_.rank() ^ distance);
    finish_bytes(operation_, partial_, bytes_, exchange_.world());
    if (serves) send_and_wait(extra, partial_);
    copy_unless_same(operation_.output.data, partial_, bytes_);
  }

 private:
  void run_extra() {
    send_and_wait(exchange_.rank() - core_, partial_);
    receive_and_wait(exchange_.rank() - core_, partial_);
  }

  void take_in(int extra) {
    receive_and_wait(extra, other_);
    combine_bytes(operation_, partial_, other_, bytes_);
  }

  void swap_with(int partner) {
    Ticket incoming = exchange_.messenger.receive(partner, other_, bytes_);
    Ticket outgoing = exchange_.messenger.send(partner, partial_, bytes_);
    exchange_.messenger.wait(incoming);
    exchange_.messenger.wait(outgoing);
    // The lower rank's part is the accumulator.
    if (partner < exchange_.rank()) std::swap(partial_, other_);
    combine_bytes(operation_, partial_, other_, bytes_);
  }

  void send_and_wait(int peer, const std::byte* data) {
    Ticket ticket = exchange_.messenger.send(peer, data, bytes_);
    exchange_.messenger.wait(ticket);
  }

  void receive_and_wait(int peer, std::byte* data) {
    Ticket ticket = exchange_.messenger.receive(peer, data, bytes_);
    exchange_.messenger.wait(ticket);
  }

  const Operation& operation_;
  Exchange& exchange_;
  const std::size_t bytes_;
  int core_ = 1;
  std::byte* partial_;
  std::byte* other_;
};

}  // namespace

void all_reduce_doubling(Exchange& exchange, const Operation& operation) {
  DoublingAllReduce(exchange, operation).run();
}

}  // namespace lockstep::comm
