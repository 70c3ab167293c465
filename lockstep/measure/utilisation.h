// How busy a worker's device is while it runs: of cores, its CPU time over the wall time of the cores it was
// given; of a GPU, what its sensors say.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lockstep/base/clock.h"

namespace lockstep::measure {

// What a GPU says of itself.
struct DeviceReading {
  double percent = 0;  // of the time since it was last asked, or of its own interval, in which it worked
  std::optional<double> watts;
  std::optional<double> megahertz;
};

struct UtilisationSample {
  base::Nanoseconds time{0};         // from start() to the end of the interval
  double percent = 0;                // of the device, over the interval; 100 is all of the given cores busy
  std::optional<double> watts = {};  // of a GPU that tells
  std::optional<double> megahertz = {};  // the same
};

struct UtilisationOptions {
  double cores = 1;  // of this worker; less than one where workers share a core
  base::Nanoseconds interval = std::chrono::milliseconds(250);
  // Of a GPU; empty, or without an answer: the cores are looked at.
  std::function<std::optional<DeviceReading>()> read_device = {};

  // Throws ConfigError.
  void validate() const;
};

// Samples on a thread of its own, which sleeps between two readings of two clocks. start() and stop() from
// one thread; the rest from any.
class UtilisationSampler {
 public:
  explicit UtilisationSampler(const UtilisationOptions& options);
  ~UtilisationSampler();
  UtilisationSampler(const UtilisationSampler&) = delete;
  UtilisationSampler& operator=(const UtilisationSampler&) = delete;

  // Begins anew. Samples from before are forgotten.
  void start();
  // Ends with a sample of what is left, unless that is too short an interval to say anything. Idempotent.
  void stop();

  std::vector<UtilisationSample> samples() const;
  // Of the whole time from start() to stop(), or to the last sample while it runs; 0 when there is none.
  double mean_percent() const;

 private:
  struct Reading {
    base::TimePoint wall;
    base::Nanoseconds cpu{0};
  };
  static Reading read();
  double percent_between(const Reading& before, const Reading& after) const;
  void sample(const Reading& reading);
  void run();

  const UtilisationOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  Reading first_;
  Reading last_;
  std::vector<UtilisationSample> samples_;
  std::thread thread_;
};

}  // namespace lockstep::measure
