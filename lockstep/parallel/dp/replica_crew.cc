#include "lockstep/parallel/dp/replica_crew.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <pthread.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/measure/torch/device_blocks.h"
#include "lockstep/measure/torch/out_of_memory.h"

namespace lockstep::parallel {
namespace {

// Where the operating system refuses, the thread runs anywhere: slower, not wrong.
void stay_on(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

bool is_collateral(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const base::CommError& failed) {
    return failed.kind() == base::CommError::Kind::collateral;
  } catch (...) {
    return false;
  }
}

std::string named(int replica, const char* text) {
  return fmt::format("replica {}: {}", replica, text);
}

// The run has one rank here, and must not look for the others of the communicator: so it is no CommError any
// more.
[[noreturn]] void rethrow_for_one_process(const base::CommError& error) {
  if (error.kind() != base::CommError::Kind::timed_out)
    throw base::Error(
        base::ExitCode::run_failed,
        fmt::format("the replicas could not exchange tensors (ranks are replicas here): {}", error.what()));
  throw base::Error(
      base::ExitCode::timed_out,
      fmt::format(
          "a replica kept the others waiting too long (ranks are replicas here): {}. Likely cause: its "
          "cores are busy with something else. Raise --timeout where a step takes that long.",
          error.what()));
}

[[noreturn]] void rethrow_named(int replica, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const measure::OutOfMemory& refused) {
    throw measure::OutOfMemory(refused.needed_bytes(), refused.cap_bytes(), named(replica, refused.what()));
  } catch (const base::CommError& failed) {
    rethrow_for_one_process(failed);
  } catch (const base::Error&) {
    throw;
  } catch (const c10::Error& refused) {
    throw base::Error(base::ExitCode::run_failed,
                      named(replica, "libtorch refused: ") + refused.what_without_backtrace());
  } catch (const std::exception& failed) {
    throw base::Error(base::ExitCode::run_failed, named(replica, failed.what()));
  }
}

}  // namespace

ReplicaCrew::ReplicaCrew(const ReplicaSource& source, std::function<void()> end_waits)
    : source_(source), end_waits_(std::move(end_waits)) {
  for (std::size_t replica = 0; replica < source.outfits.size(); ++replica)
    threads_.emplace_back([this, replica] { serve(static_cast<int>(replica)); });
}

ReplicaCrew::~ReplicaCrew() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ReplicaCrew::take_place(int replica) const {
  const ReplicaOutfit& outfit = source_.outfits[static_cast<std::size_t>(replica)];
  stay_on(outfit.cpus);
  at::set_num_threads(source_.threads);
  outfit.compute->use_here();
  outfit.compute->keep_backward_here();
}

void ReplicaCrew::serve(int replica) {
  attempt(replica, [this](int number) { take_place(number); });
  std::optional<measure::AccountScope> account;
  const auto& memory = source_.outfits[static_cast<std::size_t>(replica)].memory;
  if (memory != nullptr) account.emplace(memory);
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || round_ > done; });
    if (ending_) return;
    done = round_;
    const std::function<void(int)>& work = *work_;
    lock.unlock();
    attempt(replica, work);
    lock.lock();
    if (--unfinished_ == 0) changed_.notify_all();
  }
}

// What libtorch makes of a refused allocation is known on the thread that was refused only.
void ReplicaCrew::attempt(int replica, const std::function<void(int)>& work) {
  try {
    try {
      const measure::DeviceWatch watch;
      work(replica);
    } catch (...) {
      measure::rethrow_as_out_of_memory();
    }
  } catch (...) {
    note_failure(replica, std::current_exception());
  }
}

void ReplicaCrew::note_failure(int replica, const std::exception_ptr& error) {
  {
    const std::lock_guard lock(mutex_);
    failures_.push_back({replica, error});
  }
  abort_all();
}

void ReplicaCrew::abort_all() noexcept {
  for (const ReplicaOutfit& outfit : source_.outfits) outfit.communicator->abort("another replica failed");
  if (source_.abort_others) source_.abort_others();
  end_waits_();
}

// Replicas that end because of another one are not to blame.
const ReplicaCrew::Failure& ReplicaCrew::cause() const {
  const auto own = std::find_if(failures_.begin(), failures_.end(),
                                [](const Failure& failure) { return !is_collateral(failure.error); });
  return own != failures_.end() ? *own : failures_.front();
}

void ReplicaCrew::run(const std::function<void(int)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  unfinished_ = threads_.size();
  ++round_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return unfinished_ == 0; });
  if (failures_.empty()) return;
  const Failure failure = cause();
  lock.unlock();
  if (source_.on_failure) source_.on_failure(failure.replica, failure.error);
  rethrow_named(failure.replica, failure.error);
}

}  // namespace lockstep::parallel
