// What a worker of ours says on its standard error passes through here on its way to ours, so that the run's
// record can say why it failed and not only with which code.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/launch/line_splitter.h"
#include "lockstep/launch/pipe.h"
#include "lockstep/launch/poll_set.h"

namespace lockstep::cli {

class OverheardErrors {
 public:
  OverheardErrors();

  // To become the worker's standard error; to be closed here once it has started.
  int worker_end() const { return pipe_.write_end.get(); }
  void worker_has_started() { pipe_.write_end.reset(); }

  void watch(launch::PollSet& polls);
  // When the worker has ended: what it still said.
  void finish();
  // The last error that it told of, or the one of another rank that it ended for; empty where it told of
  // none.
  const std::string& cause() const { return cause_; }

 private:
  void pass_on();
  void hear(std::string_view line);

  launch::Pipe pipe_;
  launch::LineSplitter lines_;
  std::string cause_;
};

}  // namespace lockstep::cli
