// cuDNN finds the fastest algorithm of an operation by trying all it has, where it is allowed to
// (network.cc).
#pragma once

namespace lockstep::train {

// While this lives it tries none where `rest` is set, and takes the one it thinks best. Trying takes most of
// a second for a network and a new number of samples: too much for an epoch's last batch, which comes once an
// epoch.
class RestFromTrials {
 public:
  explicit RestFromTrials(bool rest);
  ~RestFromTrials();
  RestFromTrials(const RestFromTrials&) = delete;
  RestFromTrials& operator=(const RestFromTrials&) = delete;

 private:
  bool before_;
};

}  // namespace lockstep::train
