#include "lockstep/comm/rendezvous/server_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "lockstep/base/log.h"

namespace lockstep::comm {
namespace {

constexpr std::size_t kMostReadBytes = 64 * 1024;                // from one rank in one round
constexpr std::size_t kMostOutboxBytes = std::size_t{16} << 20;  // waiting for one rank that does not read
constexpr int kMostAccepted = 16;                                // strangers in one round
constexpr base::Nanoseconds kAcceptPause = std::chrono::milliseconds(100);

// What an epoll event belongs to: a rank's connection by its number, a stranger by its descriptor.
constexpr std::uint64_t kListenerKey = std::uint64_t{1} << 40;
constexpr std::uint64_t kWakeKey = std::uint64_t{1} << 41;
constexpr std::uint64_t kStrangerBit = std::uint64_t{1} << 42;

}  // namespace

ServerLoop::ServerLoop(const RunServerOptions& options)
    : options_(options),
      listener_(listen_at({options.address, options.port})),
      endpoint_{options.address, port_of(listener_.get())},
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      gate_(options.key, endpoint_.port) {}

ServerLoop::~ServerLoop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  post({});
  thread_.join();
}

void ServerLoop::start(std::function<void(const Verdict&)> on_verdict) {
  epoll_ = base::UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_ || !wake_)
    throw base::CommError(base::CommError::Kind::failed, "cannot serve the run: " + base::errno_text());
  watch(listener_.get(), kListenerKey, EPOLLIN, true);
  watch(wake_.get(), kWakeKey, EPOLLIN, true);
  Postman& postman = *this;
  assembly_ = std::make_unique<Assembly>(options_, postman, std::move(on_verdict), base::now());
  thread_ = std::thread([this] { serve(); });
}

void ServerLoop::post(Command command) {
  {
    const std::lock_guard lock(mutex_);
    if (command) commands_.push_back(std::move(command));
  }
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the thread is being woken anyway.
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof one);
}

Standing ServerLoop::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

bool ServerLoop::wait_until_left(base::Deadline deadline) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline.at(), [this] {
    return standing_.verdict ? standing_.present == 0 : standing_.finished == options_.world;
  });
}

void ServerLoop::serve() {
  for (;;) {
    serve_round();
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
}

void ServerLoop::serve_round() {
  std::array<epoll_event, 64> events{};
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_milliseconds());
  bool strangers_at_the_door = accept_again_at_ && *accept_again_at_ <= base::now();
  std::vector<int> strangers;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const std::uint64_t key = event.data.u64;
    if (key == kListenerKey) {
      strangers_at_the_door = true;
    } else if ((key & kStrangerBit) != 0) {
      strangers.push_back(static_cast<int>(key & 0xffffffff));
    } else if (key != kWakeKey) {
      if ((event.events & EPOLLOUT) != 0) write_to(static_cast<int>(key));
      if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0) read_from(static_cast<int>(key));
    }
  }
  run_commands();
  for (const int fd : strangers) look_at_stranger(fd);
  if (strangers_at_the_door) accept_strangers();
  gate_.drop_late(base::now());
  assembly_->tick(base::now());
  close_marked();
  // What closing brought to light, such as a lost rank, is looked at in the same round.
  assembly_->tick(base::now());
  publish();
}

int ServerLoop::wait_milliseconds() const {
  if (!to_close_.empty()) return 0;
  base::TimePoint until = base::now() + std::chrono::hours(1);
  const auto consider = [&until](std::optional<base::TimePoint> at) {
    if (at) until = std::min(until, *at);
  };
  consider(assembly_->next_deadline());
  consider(gate_.next_deadline());
  consider(accept_again_at_);
  return base::Deadline(until, base::Nanoseconds(0)).left_milliseconds();
}

void ServerLoop::run_commands() {
  std::uint64_t ignored_count = 0;
  [[maybe_unused]] const ssize_t ignored = ::read(wake_.get(), &ignored_count, sizeof ignored_count);
  std::vector<Command> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (const Command& command : commands) command(*assembly_);
}

void ServerLoop::accept_strangers() {
  accept_again_at_.reset();
  bool out_of_files = false;
  for (int i = 0; i < kMostAccepted; ++i) {
    auto fd = accept_one(listener_.get(), out_of_files);
    if (!fd) break;
    const int number = fd->get();
    watch(number, kStrangerBit | static_cast<std::uint64_t>(number), EPOLLIN, true);
    gate_.enter(std::move(*fd), base::now());
    look_at_stranger(number);
  }
  if (!out_of_files) return watch(listener_.get(), kListenerKey, EPOLLIN, false);
  // Without a pause the listener would wake us again and again in vain.
  gate_.drop_all();
  watch(listener_.get(), kListenerKey, 0, false);
  accept_again_at_ = base::now() + kAcceptPause;
}

void ServerLoop::look_at_stranger(int fd) {
  auto admitted = gate_.read(fd);
  assembly_->turned_away(gate_.turned_away());
  if (!admitted) return;
  tune_for_a_run(admitted->fd.get());
  const int id = next_id_++;
  watch(admitted->fd.get(), static_cast<std::uint64_t>(id), EPOLLIN, false);
  connections_[id] = {std::move(admitted->fd), {}, std::move(admitted->admission), false};
  assembly_->greet(id, admitted->hello);
  read_from(id);
}

void ServerLoop::read_from(int id) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.dismissed) return;
  Connection& connection = found->second;
  std::string bytes;
  ReadResult result = ReadResult::some;
  while (result == ReadResult::some && bytes.size() < kMostReadBytes)
    result = read_some(connection.fd.get(), bytes, kMostReadBytes - bytes.size());
  connection.reader.feed(bytes);
  handle_frames(id, connection);
  if (result == ReadResult::closed) close_later(id);
}

void ServerLoop::handle_frames(int id, Connection& connection) {
  try {
    while (auto frame = connection.dismissed ? std::nullopt : connection.reader.next())
      assembly_->handle(id, *frame, base::now());
  } catch (const ProtocolError& error) {
    base::log_debug(std::string("the run's server closes a connection: ") + error.what());
    connection.dismissed = true;
    close_later(id);
  }
}

void ServerLoop::send(int connection, const Frame& frame) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  found->second.outbox += encode(frame);
  write_to(connection);
}

void ServerLoop::dismiss(int connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  found->second.dismissed = true;
  if (found->second.outbox.empty()) close_later(connection);
}

void ServerLoop::write_to(int id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  const bool was_waiting = !connection.outbox.empty();
  const bool broken = !write_some(connection.fd.get(), connection.outbox);
  const bool is_waiting = !connection.outbox.empty();
  if (broken || connection.outbox.size() > kMostOutboxBytes || (connection.dismissed && !is_waiting))
    return close_later(id);
  if (was_waiting || is_waiting)
    watch(connection.fd.get(), static_cast<std::uint64_t>(id), is_waiting ? EPOLLIN | EPOLLOUT : EPOLLIN,
          false);
}

void ServerLoop::close_marked() {
  std::vector<int> marked;
  marked.swap(to_close_);
  for (const int id : marked)
    if (connections_.erase(id) > 0) assembly_->closed(id, base::now());
}

void ServerLoop::watch(int fd, std::uint64_t key, std::uint32_t events, bool is_new) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  // Can fail only for want of kernel memory; the connection then ends by its deadline.
  (void)::epoll_ctl(epoll_.get(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

void ServerLoop::publish() {
  Standing standing = assembly_->standing();
  const std::lock_guard lock(mutex_);
  standing_ = std::move(standing);
  changed_.notify_all();
}

}  // namespace lockstep::comm
