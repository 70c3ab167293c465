#include "lockstep/measure/utilisation.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "lockstep/base/error.h"

namespace lockstep::measure {

void UtilisationOptions::validate() const {
  if (!(cores > 0) || !std::isfinite(cores))
    throw base::ConfigError(fmt::format("utilisation needs a number of cores above 0, not {}", cores));
  if (interval < std::chrono::milliseconds(1))
    throw base::ConfigError("utilisation cannot be sampled more often than every millisecond");
}

UtilisationSampler::UtilisationSampler(const UtilisationOptions& options) : options_(options) {
  options_.validate();
}

UtilisationSampler::~UtilisationSampler() {
  stop();
}

void UtilisationSampler::start() {
  stop();
  const std::lock_guard lock(mutex_);
  samples_.clear();
  stopping_ = false;
  first_ = last_ = read();
  thread_ = std::thread([this] { run(); });
}

void UtilisationSampler::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

std::vector<UtilisationSample> UtilisationSampler::samples() const {
  const std::lock_guard lock(mutex_);
  return samples_;
}

double UtilisationSampler::mean_percent() const {
  const std::lock_guard lock(mutex_);
  return percent_between(first_, last_);
}

UtilisationSampler::Reading UtilisationSampler::read() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return {base::now(), std::chrono::seconds(time.tv_sec) + base::Nanoseconds(time.tv_nsec)};
}

double UtilisationSampler::percent_between(const Reading& before, const Reading& after) const {
  const double wall_seconds = base::to_seconds(after.wall - before.wall);
  if (wall_seconds <= 0) return 0;
  return 100 * base::to_seconds(after.cpu - before.cpu) / (wall_seconds * options_.cores);
}

void UtilisationSampler::sample(const Reading& reading) {
  UtilisationSample taken{reading.wall - first_.wall, percent_between(last_, reading)};
  const std::optional<DeviceReading> device = options_.read_device ? options_.read_device() : std::nullopt;
  if (device) {
    taken.percent = device->percent;
    taken.watts = device->watts;
    taken.megahertz = device->megahertz;
  }
  samples_.push_back(taken);
  last_ = reading;
}

void UtilisationSampler::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, last_.wall + options_.interval, [this] { return stopping_; }))
    sample(read());
  // A run shorter than the interval has one sample rather than none.
  const Reading end = read();
  if (samples_.empty() || end.wall - last_.wall >= options_.interval / 2) sample(end);
  last_ = end;
}

}  // namespace lockstep::measure
