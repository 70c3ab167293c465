#include "lockstep/comm/gloo/loop_poster.h"

#include <sys/eventfd.h>

namespace lockstep::comm {

LoopPoster::LoopPoster(std::shared_ptr<gloo::transport::tcp::Device> device, OnError on_error)
    : device_(std::move(device)),
      on_error_(std::move(on_error)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  device_->registerDescriptor(wake_.get(), EPOLLIN, this);
}

LoopPoster::~LoopPoster() {
  device_->unregisterDescriptor(wake_.get(), this);
}

void LoopPoster::flush() {
  if (collected_.empty()) return;
  bool was_empty = false;
  {
    const std::lock_guard lock(queue_mutex_);
    was_empty = queue_.empty();
    queue_.insert(queue_.end(), collected_.begin(), collected_.end());
  }
  collected_.clear();
  if (was_empty) ::eventfd_write(wake_.get(), 1);
}

void LoopPoster::clear() {
  collected_.clear();
  const std::lock_guard begin_lock(begin_mutex_);
  const std::lock_guard queue_lock(queue_mutex_);
  queue_.clear();
}

void LoopPoster::handleEvents(int) {
  eventfd_t count = 0;
  ::eventfd_read(wake_.get(), &count);
  const std::lock_guard begin_lock(begin_mutex_);
  std::vector<Posting> postings;
  {
    const std::lock_guard queue_lock(queue_mutex_);
    postings.swap(queue_);
  }
  for (const Posting& posting : postings) begin(posting);
}

void LoopPoster::begin(const Posting& posting) {
  try {
    if (posting.receives)
      posting.buffer->recv(posting.peer, posting.slot, 0, posting.bytes);
    else
      posting.buffer->send(posting.peer, posting.slot, 0, posting.bytes);
  } catch (const std::exception& error) {
    on_error_(posting, error.what());
  }
}

}  // namespace lockstep::comm
