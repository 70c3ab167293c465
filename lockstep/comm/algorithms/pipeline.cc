#include "lockstep/comm/algorithms/pipeline.h"

#include <algorithm>
#include <vector>

namespace lockstep::comm {
namespace {

// One run of a pipeline: the tickets of the segments under way, in two circles.
class PipelineRun {
 public:
  PipelineRun(const Pipeline& pipeline, Messenger& messenger, PipelineWork& work)
      : pipeline_(pipeline),
        messenger_(messenger),
        work_(work),
        sends_(pipeline.lookahead),
        receives_(pipeline.lookahead) {}

  void execute() {
    for (std::size_t i = 0; i < std::min(pipeline_.lookahead, pipeline_.length); ++i) post_receive(i);
    for (std::size_t i = 0; i < std::min(pipeline_.lookahead, pipeline_.length); ++i) post_send(i);
    for (std::size_t i = 0; i < pipeline_.length; ++i) advance(i);
  }

 private:
  // The send of segment i is over before receive i+lookahead is posted: it may land in the same memory.
  void advance(std::size_t i) {
    Ticket& receive = receives_[i % pipeline_.lookahead];
    if (receive) {
      messenger_.wait(receive);
      work_.arrived(i);
    }
    messenger_.wait(sends_[i % pipeline_.lookahead]);
    const std::size_t next = i + pipeline_.lookahead;
    if (next >= pipeline_.length) return;
    post_receive(next);
    post_send(next);
  }

  void post_receive(std::size_t i) {
    if (pipeline_.from == Pipeline::kNobody) return;
    const std::span<std::byte> place = work_.landing(i);
    if (!place.empty())
      receives_[i % pipeline_.lookahead] = messenger_.receive(pipeline_.from, place.data(), place.size());
  }

  void post_send(std::size_t i) {
    if (pipeline_.to == Pipeline::kNobody) return;
    const std::span<const std::byte> segment = work_.outgoing(i);
    if (!segment.empty())
      sends_[i % pipeline_.lookahead] = messenger_.send(pipeline_.to, segment.data(), segment.size());
  }

  const Pipeline& pipeline_;
  Messenger& messenger_;
  PipelineWork& work_;
  std::vector<Ticket> sends_, receives_;
};

}  // namespace

void Pipeline::run(Messenger& messenger, PipelineWork& work) const {
  PipelineRun(*this, messenger, work).execute();
}

}  // namespace lockstep::comm
