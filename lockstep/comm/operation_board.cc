#include "lockstep/comm/operation_board.h"

#include <algorithm>

namespace lockstep::comm {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

std::int64_t nanoseconds_of(base::TimePoint at) {
  return at.time_since_epoch().count();
}

bool says_more(const OperationStatus& one, const OperationStatus& other) {
  if (one.description.empty() || other.description.empty()) return !one.description.empty();
  if (one.running != other.running) return one.running;
  return one.running ? one.since > other.since : one.since < other.since;
}

}  // namespace

void OperationBoard::begin(const Operation& operation, std::string_view backend, base::TimePoint at,
                           base::Nanoseconds timeout) {
  collective_.store(operation.collective, kRelaxed);
  reduce_op_.store(operation.reduce_op, kRelaxed);
  type_.store(operation.type(), kRelaxed);
  input_bytes_.store(operation.input.bytes, kRelaxed);
  output_bytes_.store(operation.output.bytes, kRelaxed);
  root_.store(operation.root, kRelaxed);
  call_.store(nullptr, kRelaxed);
  run(backend.data(), at, timeout);
}

void OperationBoard::begin_call(const char* name, const char* backend, base::TimePoint at,
                                base::Nanoseconds timeout) {
  call_.store(name, kRelaxed);
  run(backend, at, timeout);
}

void OperationBoard::run(const char* backend, base::TimePoint at, base::Nanoseconds timeout) {
  backend_.store(backend, kRelaxed);
  at_.store(nanoseconds_of(at), kRelaxed);
  timeout_.store(timeout.count(), kRelaxed);
  sequence_.store(sequence_.load(kRelaxed) + 1, kRelaxed);
  running_.store(true, std::memory_order_release);
}

void OperationBoard::end(base::TimePoint at) {
  at_.store(nanoseconds_of(at), kRelaxed);
  running_.store(false, std::memory_order_release);
}

OperationStatus OperationBoard::status() const {
  OperationStatus status;
  status.running = running_.load(std::memory_order_acquire);
  status.sequence = sequence_.load(kRelaxed);
  if (status.sequence == 0) return status;
  Operation operation;
  operation.collective = collective_.load(kRelaxed);
  operation.reduce_op = reduce_op_.load(kRelaxed);
  operation.input = {nullptr, input_bytes_.load(kRelaxed), type_.load(kRelaxed), Place::host};
  operation.output = {nullptr, output_bytes_.load(kRelaxed), type_.load(kRelaxed), Place::host};
  operation.root = root_.load(kRelaxed);
  const char* const call = call_.load(kRelaxed);
  status.description = (call != nullptr ? call : describe(operation)) + " over " + backend_.load(kRelaxed);
  status.since = base::Nanoseconds(nanoseconds_of(base::now()) - at_.load(kRelaxed));
  return status;
}

std::optional<base::Nanoseconds> OperationBoard::overdue() const {
  if (!running_.load(std::memory_order_acquire)) return std::nullopt;
  const std::int64_t past = nanoseconds_of(base::now()) - at_.load(kRelaxed) - timeout_.load(kRelaxed);
  if (past <= 0) return std::nullopt;
  return base::Nanoseconds(past);
}

std::shared_ptr<OperationBoard> OperationBoards::add() {
  std::shared_ptr<OperationBoard> board(new OperationBoard, [this](const OperationBoard* gone) {
    retire(*gone);
    delete gone;
  });
  const std::lock_guard lock(mutex_);
  boards_.push_back(board);
  return board;
}

OperationStatus OperationBoards::status() const {
  OperationStatus best;
  for (const auto& board : living()) {
    const OperationStatus status = board->status();
    if (says_more(status, best)) best = status;
  }
  const std::lock_guard lock(mutex_);
  return more_telling_than_retired(best) ? best : aged_retired();
}

// A rank that went on after a communicator was gone is where it went on.
bool OperationBoards::more_telling_than_retired(const OperationStatus& status) const {
  const bool is_later = !status.description.empty() && status.since < base::now() - retired_at_;
  return is_later || says_more(status, aged_retired());
}

OperationStatus OperationBoards::aged_retired() const {
  OperationStatus aged = retired_;
  aged.since += base::now() - retired_at_;
  return aged;
}

void OperationBoards::retire(const OperationBoard& board) {
  const OperationStatus status = board.status();
  const std::lock_guard lock(mutex_);
  if (!more_telling_than_retired(status)) return;
  retired_ = status;
  retired_at_ = base::now();
}

std::optional<base::Nanoseconds> OperationBoards::overdue() const {
  std::optional<base::Nanoseconds> longest;
  for (const auto& board : living()) longest = std::max(longest, board->overdue());
  return longest;
}

std::vector<std::shared_ptr<const OperationBoard>> OperationBoards::living() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const OperationBoard>> living;
  std::erase_if(boards_, [&living](const std::weak_ptr<const OperationBoard>& weak) {
    if (auto board = weak.lock()) living.push_back(std::move(board));
    return weak.expired();
  });
  return living;
}

CallOnBoard::CallOnBoard(OperationBoards* boards, const char* name, const char* backend,
                         base::Nanoseconds timeout)
    : board_(boards == nullptr ? nullptr : boards->add()) {
  if (board_ != nullptr) board_->begin_call(name, backend, base::now(), timeout);
}

CallOnBoard::~CallOnBoard() {
  if (board_ != nullptr) board_->end(base::now());
}

}  // namespace lockstep::comm
