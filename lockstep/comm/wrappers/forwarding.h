// The base of wrappers: passes everything on to the communicator inside.
#pragma once

#include <memory>
#include <utility>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(std::unique_ptr<Communicator> inner) : inner_(std::move(inner)) {}

  const Group& group() const override { return inner_->group(); }
  std::string_view backend() const override { return inner_->backend(); }
  std::string_view link() const override { return inner_->link(); }
  bool shares_device() const override { return inner_->shares_device(); }
  measure::Movement run(const Operation& operation) override { return inner_->run(operation); }
  Work start(const Operation& operation, Completion on_done) override {
    return inner_->start(operation, std::move(on_done));
  }
  Queue& queue() override { return inner_->queue(); }
  Allocation allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  std::uint64_t device_bytes() const override { return inner_->device_bytes(); }
  void copy(const Buffer& to, const Buffer& from) override { inner_->copy(to, from); }
  std::unique_ptr<Communicator> split(int colour, int key) override {
    return rewrap(inner_->split(colour, key));
  }
  std::unique_ptr<Communicator> duplicate() override { return rewrap(inner_->duplicate()); }
  void abort(const std::string& reason) noexcept override { inner_->abort(reason); }

 protected:
  Communicator& inner() { return *inner_; }
  // After it, this can only be destroyed.
  std::unique_ptr<Communicator> take_inner() { return std::move(inner_); }
  // Puts the same wrapper around a communicator made from this one.
  virtual std::unique_ptr<Communicator> wrap(std::unique_ptr<Communicator> made) = 0;

 private:
  std::unique_ptr<Communicator> rewrap(std::unique_ptr<Communicator> made) {
    return made == nullptr ? nullptr : wrap(std::move(made));
  }
  std::unique_ptr<Communicator> inner_;
};

}  // namespace lockstep::comm
