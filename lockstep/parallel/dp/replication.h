// *Replicate*: the originals' parameters and buffers to one replica, every step. One object a replica; all
// call run() at once.
//
// Plain: one broadcast for each tensor. Coalesced: the first replica packs tensors into pieces and one
// broadcast moves a piece; at the others the tensors lie in the pieces, so nothing is unpacked.
#pragma once

#include <optional>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/models/model.h"
#include "lockstep/parallel/dp/pieces.h"

namespace lockstep::parallel {

class Replication {
 public:
  // `piece_bytes` unset: plain. Originals are touched by replica 0 only. On replica 0 the copy may be the
  // original itself: then nothing is copied there. Tensors of `copy` may get other memory.
  Replication(const models::Model& originals, const models::Model& copy, comm::Communicator& communicator,
              measure::StepTimer& timer, std::optional<std::uint64_t> piece_bytes);

  void run();
  // The buffers that replica 0 has moved become the originals'. On replica 0, after its passes.
  void keep_buffers();

 private:
  struct Tensors {  // of one purpose
    measure::Purpose purpose;
    std::vector<at::Tensor> originals;
    std::vector<at::Tensor> copies;
    PieceLayout layout;             // coalesced
    std::optional<Pieces> arrived;  // coalesced, not on replica 0: where the copies lie
  };
  Tensors make(measure::Purpose purpose, const std::vector<models::NamedTensor>& originals,
               const std::vector<models::NamedTensor>& copies,
               std::optional<std::uint64_t> piece_bytes) const;
  bool is_first() const { return communicator_.group().rank == 0; }
  void move(Tensors& tensors);
  void send_each(Tensors& tensors);
  void send_pieces(Tensors& tensors);
  void copy_at_home(const Tensors& tensors) const;

  comm::Communicator& communicator_;
  measure::StepTimer& timer_;
  const bool coalesced_;
  const bool shares_originals_;
  Tensors parameters_;
  Tensors buffers_;
};

}  // namespace lockstep::parallel
