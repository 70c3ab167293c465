#include "lockstep/comm/cuda/flight_deck.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"
#include "lockstep/comm/cuda/pause.h"

namespace lockstep::comm {
namespace {

constexpr auto kWatchInterval = std::chrono::milliseconds(20);
constexpr int kLooksPerPoll = 50;  // at the event, which is cheap, before asking the link for its health

// False too where the device has failed and says nothing any more.
bool has_happened(const device::cuda::Event& event) {
  try {
    return event.done();
  } catch (const std::exception&) {
    return false;
  }
}

class FlightWork : public Pending {
 public:
  FlightWork(std::shared_ptr<FlightDeck> deck, std::shared_ptr<Flight> flight)
      : deck_(std::move(deck)), flight_(std::move(flight)) {}

  bool done() const override {
    if (!flight_->settled.load(std::memory_order_acquire)) deck_->poll();
    return flight_->settled.load(std::memory_order_acquire);
  }
  void wait() override { deck_->wait(*flight_); }
  void* device_event() const override { return flight_->end->get(); }

 private:
  std::shared_ptr<FlightDeck> deck_;
  std::shared_ptr<Flight> flight_;
};

}  // namespace

FlightDeck::FlightDeck(std::shared_ptr<DeviceLink> link, std::shared_ptr<HostGate> gate, int rank,
                       base::Nanoseconds timeout, std::shared_ptr<OperationBoard> board)
    : link_(std::move(link)),
      gate_(std::move(gate)),
      rank_(rank),
      timeout_(timeout),
      board_(std::move(board)),
      watcher_([this] { watch(); }) {}

FlightDeck::~FlightDeck() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

void FlightDeck::announce(const Operation& operation) {
  const std::lock_guard lock(mutex_);
  settle_ended();
  announced_ = flights_.empty();
  if (announced_ && board_ != nullptr) board_->begin(operation, link_->backend_name(), base::now(), timeout_);
}

Work FlightDeck::add(std::shared_ptr<Flight> flight) {
  auto work = std::make_shared<FlightWork>(shared_from_this(), flight);
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = flights_.empty();
    link_->submitted(flight->operation);
    flights_.push_back(std::move(flight));
    if (was_empty) begin_oldest();
    announced_ = false;
  }
  if (was_empty) changed_.notify_one();
  return Work(std::move(work));
}

void FlightDeck::poll() {
  const std::lock_guard lock(mutex_);
  try {
    settle_ended();
    check_oldest();
  } catch (...) {
    fail_all(std::current_exception());
  }
}

void FlightDeck::wait(const Flight& flight) {
  Pause pause;
  while (!flight.settled.load(std::memory_order_acquire)) {
    for (int round = 0; round < kLooksPerPoll && !looked_and_settled(flight); ++round) pause();
    if (!flight.settled.load(std::memory_order_acquire)) poll();
  }
  if (flight.error) std::rethrow_exception(flight.error);
}

bool FlightDeck::looked_and_settled(const Flight& flight) {
  const std::lock_guard lock(mutex_);
  try {
    settle_ended();
  } catch (...) {
    fail_all(std::current_exception());
  }
  return flight.settled.load(std::memory_order_acquire);
}

void FlightDeck::require_usable(const std::string& what) const {
  if (!link_->aborted()) return;
  throw base::CommError(base::CommError::Kind::collateral,
                        fmt::format("rank {}: {} was not begun: this communicator has ended: {}", rank_, what,
                                    link_->abort_reason()));
}

// An event fires too when a kernel was ended by an abort or gave up: so look at the event first, then at the
// link.
void FlightDeck::settle_ended() {
  while (!flights_.empty() && flights_.front()->over->done() && !link_->broken()) {
    const std::shared_ptr<Flight> flight = flights_.front();
    flights_.pop_front();
    flight->movement.busy = device::cuda::elapsed(*flight->begin, *flight->end);
    if (flight->peer_wait) flight->movement.peer_wait = std::min(flight->peer_wait(), flight->movement.busy);
    if (board_ != nullptr) board_->end(base::now());
    link_->completed(flight->operation);
    ++ended_;
    last_ended_ = flight->operation;
    settle(*flight, nullptr);
    begin_oldest();
  }
}

void FlightDeck::settle(Flight& flight, std::exception_ptr error) {
  if (!error && flight.on_done) flight.on_done(flight.movement);
  flight.on_done = nullptr;
  flight.error = std::move(error);
  flight.settled.store(true, std::memory_order_release);
}

// The oldest operation is the one that runs; its time counts from when it became that.
void FlightDeck::begin_oldest() {
  if (flights_.empty()) return;
  oldest_since_ = base::now();
  if (board_ != nullptr && !announced_)
    board_->begin(flights_.front()->operation, link_->backend_name(), oldest_since_, timeout_);
}

void FlightDeck::check_oldest() {
  if (flights_.empty()) return;
  const Flight& oldest = *flights_.front();
  if (!link_->healthy()) throw_unhealthy(oldest);
  if (base::now() - oldest_since_ > timeout_) throw_late(oldest);
}

// A kernel that gave up when its time was over is late like any other operation: who kept it waiting is told
// in one place.
void FlightDeck::throw_unhealthy(const Flight& oldest) const {
  try {
    link_->check_health(describe(oldest.operation));
  } catch (const base::CommError& error) {
    if (error.kind() != base::CommError::Kind::timed_out) throw;
    throw_late(oldest);
  }
}

void FlightDeck::throw_late(const Flight& oldest) const {
  throw base::CommError(
      base::CommError::Kind::timed_out,
      fmt::format("rank {}: {} over {} did not end within {}: {} {}", rank_, describe(oldest.operation),
                  link_->backend_name(), base::format_duration(timeout_), link_->why_late(oldest.operation),
                  last_operations()));
}

// What this rank's own device was at: where ranks stand still, their lines beside each other show who waits
// for whom.
std::string FlightDeck::last_operations() const {
  std::uint64_t begun = ended_;
  for (const std::shared_ptr<Flight>& flight : flights_) {
    if (!has_happened(*flight->begin)) break;
    ++begun;
  }
  const auto told = [this](std::uint64_t number) {
    if (number == 0) return std::string("nothing");
    const Operation& operation = number == ended_ ? last_ended_ : flights_[number - ended_ - 1]->operation;
    return fmt::format("#{} {}", number, describe(operation));
  };
  return fmt::format("Last on this communicator: submitted {}, begun {}, ended {}.",
                     told(ended_ + flights_.size()), told(begun), told(ended_));
}

void FlightDeck::fail_all(std::exception_ptr error) {
  std::string reason = "an operation of this communicator failed";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    reason = known.what();
  } catch (...) {
  }
  link_->abort(reason);
  changed_.notify_one();
  gate_->close();
  if (board_ != nullptr && !flights_.empty()) board_->end(base::now());
  for (const std::shared_ptr<Flight>& flight : flights_) settle(*flight, error);
  flights_.clear();
}

// Asking for events is allowed in this thread even while another one captures a CUDA graph. After an abort it
// goes on until the deck goes: what the device still had to do may have begun to wait since.
void FlightDeck::watch() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !flights_.empty() || link_->aborted(); });
    if (stopping_) return;
    changed_.wait_for(lock, kWatchInterval, [this] { return stopping_; });
    lock.unlock();
    poll();
    if (link_->aborted()) link_->abort_again();
    lock.lock();
  }
}

}  // namespace lockstep::comm
