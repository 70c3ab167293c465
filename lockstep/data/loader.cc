#include "lockstep/data/loader.h"

#include <fmt/core.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "lockstep/base/error.h"

namespace lockstep::data {

void LoaderOptions::validate() const {
  if (threads < 0)
    throw base::ConfigError(fmt::format("loader_threads is {}: it must be at least 0.", threads));
  if (prefetch < 1) throw base::ConfigError("prefetch is 0: it must be at least 1.");
}

// Terms: a ticket is the number of a batch in the order of next(), counted from the last seek. A thread draws
// a ticket under the lock, prepares its batch without it, and puts it into the ring at ticket % prefetch.
class Loader::Impl {
 public:
  Impl(std::shared_ptr<const SampleSet> set, const TransformOptions& transform, const SamplerOptions& sampler,
       const LoaderOptions& options)
      : set_(std::move(set)), transform_(*set_, transform), sampler_(sampler), options_(options) {
    options_.validate();
    ring_.resize(options_.prefetch);
    start();
  }
  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::optional<Batch> next() {
    if (ended(given_)) return std::nullopt;
    const base::TimePoint began = base::now();
    Batch batch = options_.threads == 0 ? prepare_here() : take_prepared();
    waited_ += base::now() - began;
    given_ = sampler_.after(given_);
    return batch;
  }

  void seek(SamplerPosition position) {
    stop();
    given_ = position;
    start();
  }

  SamplerPosition position() const { return given_; }
  base::Nanoseconds waited() const { return waited_; }
  std::size_t steps_per_epoch() const { return sampler_.steps_per_epoch(); }

 private:
  bool ended(SamplerPosition position) const { return options_.epochs && position.epoch >= *options_.epochs; }

  void start() {
    drawn_ = given_;
    tickets_drawn_ = tickets_given_ = 0;
    for (auto& slot : ring_) slot.reset();
    failure_ = nullptr;
    stopping_ = false;
    for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  bool can_draw() const { return !ended(drawn_) && tickets_drawn_ - tickets_given_ < options_.prefetch; }

  void work() {
    Transform::Scratch scratch;
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [this] { return stopping_ || failure_ || can_draw(); });
      if (stopping_ || failure_) return;
      try {
        work_on_next(lock, scratch);
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        failure_ = std::current_exception();
        ready_.notify_all();
      }
    }
  }

  void work_on_next(std::unique_lock<std::mutex>& lock, Transform::Scratch& scratch) {
    const std::size_t ticket = tickets_drawn_++;
    StepPlan plan = sampler_.plan(drawn_);
    drawn_ = sampler_.after(drawn_);
    lock.unlock();
    Batch batch = prepare(std::move(plan), scratch);
    lock.lock();
    ring_[ticket % options_.prefetch] = std::move(batch);
    ready_.notify_all();
  }

  Batch prepare_here() { return prepare(sampler_.plan(given_), scratch_); }

  Batch take_prepared() {
    std::unique_lock lock(mutex_);
    std::optional<Batch>& slot = ring_[tickets_given_ % options_.prefetch];
    const base::Deadline deadline(options_.timeout);
    const bool arrived = ready_.wait_until(lock, deadline.at(), [&] { return slot.has_value() || failure_; });
    if (!slot && failure_) std::rethrow_exception(failure_);
    if (!arrived) {
      throw base::DataError(
          fmt::format("waited {:.0f} s for a batch that did not come: the data's disk may hang.",
                      base::to_seconds(options_.timeout)));
    }
    Batch batch = std::move(*slot);
    slot.reset();
    ++tickets_given_;
    room_.notify_one();
    return batch;
  }

  Batch prepare(StepPlan plan, Transform::Scratch& scratch) {
    if (options_.delay.count() > 0) std::this_thread::sleep_for(options_.delay);
    Batch batch{std::move(plan), set_->task, transform_.input(), pool_.take()};
    resize_for(batch);
    const std::uint64_t epoch = options_.fresh_each_epoch ? batch.plan.position.epoch : 0;
    for (std::size_t i = 0; i < batch.count(); ++i) {
      transform_.write(*set_, batch.plan.samples[i], epoch, slot_of(batch, i), scratch);
    }
    return batch;
  }

  std::size_t target_elements() const {
    if (set_->task == record::Task::steering) return 1;
    return set_->task == record::Task::restoration ? transform_.input().elements() : 0;
  }

  void resize_for(Batch& batch) const {
    batch.memory->inputs.resize(batch.count() * batch.input.elements());
    batch.memory->targets.resize(batch.count() * target_elements());
    batch.memory->labels.resize(set_->task == record::Task::classification ? batch.count() : 0);
  }

  SampleSlot slot_of(Batch& batch, std::size_t i) const {
    BatchMemory& memory = *batch.memory;
    return {memory.inputs.data() + i * batch.input.elements(),
            memory.labels.empty() ? nullptr : &memory.labels[i],
            memory.targets.empty() ? nullptr : &memory.targets[i * target_elements()]};
  }

  const std::shared_ptr<const SampleSet> set_;
  const Transform transform_;
  Sampler sampler_;  // plan() is called under the lock, or without threads
  const LoaderOptions options_;
  BatchPool pool_;
  Transform::Scratch scratch_;  // of next() without threads

  // Of the thread that calls next().
  SamplerPosition given_;
  base::Nanoseconds waited_{0};
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable room_;
  std::condition_variable ready_;
  SamplerPosition drawn_;
  std::size_t tickets_drawn_ = 0;
  std::size_t tickets_given_ = 0;
  std::vector<std::optional<Batch>> ring_;
  std::exception_ptr failure_;
  bool stopping_ = false;
};

Loader::Loader(std::shared_ptr<const SampleSet> set, const TransformOptions& transform,
               const SamplerOptions& sampler, const LoaderOptions& options)
    : impl_(std::make_unique<Impl>(std::move(set), transform, sampler, options)) {}
Loader::~Loader() = default;

std::optional<Batch> Loader::next() {
  return impl_->next();
}
void Loader::seek(SamplerPosition position) {
  impl_->seek(position);
}
SamplerPosition Loader::position() const {
  return impl_->position();
}
std::size_t Loader::steps_per_epoch() const {
  return impl_->steps_per_epoch();
}
base::Nanoseconds Loader::waited() const {
  return impl_->waited();
}

}  // namespace lockstep::data
