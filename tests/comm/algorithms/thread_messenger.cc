#include "tests/comm/algorithms/thread_messenger.h"

#include <cstring>
#include <stdexcept>
#include <thread>

namespace lockstep::testing {

void Mailboxes::put(int from, int to, std::vector<std::byte> message) {
  const std::lock_guard lock(mutex_);
  boxes_[{from, to}].push_back(std::move(message));
  changed_.notify_all();
}

std::vector<std::byte> Mailboxes::take(int from, int to, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  auto& box = boxes_[{from, to}];
  if (!changed_.wait_for(lock, std::chrono::seconds(30), [&] { return !box.empty(); }))
    throw std::runtime_error("no message from " + std::to_string(from) + " to " + std::to_string(to));
  std::vector<std::byte> message = std::move(box.front());
  box.pop_front();
  if (message.size() != bytes) throw std::runtime_error("a message has another size than expected");
  return message;
}

int ThreadMessenger::start_send(int peer, const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  messages_.push_back({peer, const_cast<void*>(data), {begin, begin + bytes}});
  mailboxes_.put(rank_, peer, messages_.back().sent);
  return static_cast<int>(messages_.size()) - 1;
}

int ThreadMessenger::start_receive(int peer, void* data, std::size_t) {
  messages_.push_back({peer, data, {}});
  return static_cast<int>(messages_.size()) - 1;
}

void ThreadMessenger::finish(const comm::Ticket& ticket) {
  const Message& message = messages_[static_cast<std::size_t>(ticket.number)];
  if (ticket.receives) {
    const std::vector<std::byte> arrived = mailboxes_.take(message.peer, rank_, ticket.bytes);
    if (!arrived.empty()) std::memcpy(message.memory, arrived.data(), arrived.size());
    return;
  }
  if (ticket.bytes > 0 && std::memcmp(message.memory, message.sent.data(), ticket.bytes) != 0)
    throw std::runtime_error("memory was changed while it was being sent");
}

void run_threads(int world, const std::function<void(comm::Exchange&)>& body,
                 const comm::AlgorithmOptions& options) {
  Mailboxes mailboxes;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(world));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadMessenger messenger(mailboxes, rank, world);
        comm::Scratch scratch;
        comm::Exchange exchange{messenger, scratch, options};
        body(exchange);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace lockstep::testing
