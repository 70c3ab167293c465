// Communicators of a device take turns: an operation is put behind what another one's queue has, and behind
// nothing where it is the same one's.
#include "lockstep/parallel/ordered_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::parallel {
namespace {

using ::testing::ElementsAre;

using Lines = std::vector<std::string>;

class NamedWork : public comm::Pending {
 public:
  explicit NamedWork(std::string name) : name_(std::move(name)) {}
  bool done() const override { return false; }
  void wait() override {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

std::string name_of(const comm::Work& work) {
  return dynamic_cast<NamedWork&>(*work.pending()).name();
}
comm::Work named(const std::string& name) {
  return comm::Work(std::make_shared<NamedWork>(name));
}

// Notes what its queue is told to wait for and what is put on it.
class NotingCommunicator : public comm::Communicator, public comm::Queue {
 public:
  NotingCommunicator(std::string name, std::string backend, Lines& lines)
      : name_(std::move(name)), backend_(std::move(backend)), lines_(lines) {}

  const comm::Group& group() const override { return group_; }
  std::string_view backend() const override { return backend_; }
  std::string_view link() const override { return "none"; }
  measure::Movement run(const comm::Operation&) override {
    lines_.push_back(name_ + " runs");
    return {};
  }
  comm::Work start(const comm::Operation&, comm::Completion) override {
    lines_.push_back(name_ + " starts");
    return named(name_ + "'s operation");
  }
  comm::Queue& queue() override { return *this; }
  comm::Allocation allocate(std::size_t) override { return {}; }
  void copy(const comm::Buffer&, const comm::Buffer&) override {}
  std::unique_ptr<comm::Communicator> split(int, int) override { return duplicate(); }
  std::unique_ptr<comm::Communicator> duplicate() override {
    return std::make_unique<NotingCommunicator>(name_ + "'", backend_, lines_);
  }
  void abort(const std::string&) noexcept override {}

  comm::Work mark() override { return {}; }
  void wait_for(const comm::Work& work) override {
    if (name_of(work) != "computing") lines_.push_back(name_ + " waits for " + name_of(work));
  }
  void delay(base::Nanoseconds) override {}
  void drain() override {}

 private:
  std::string name_, backend_;
  Lines& lines_;
  comm::Group group_;
};

class NotingQueue : public ComputeQueue {
 public:
  void use_here() override {}
  void keep_backward_here() override {}
  comm::Work mark() override { return named("computing"); }
  void wait_for(const comm::Work&) override {}
  void synchronise() override {}
  std::unique_ptr<measure::StepTimer> step_timer(measure::SpanListener*) override { return nullptr; }
  std::unique_ptr<comm::Communicator> ordered(std::unique_ptr<comm::Communicator> communicator) override {
    return std::make_unique<OrderedCommunicator>(std::move(communicator), *this);
  }
  std::unique_ptr<comm::Communicator> staged(std::unique_ptr<comm::Communicator> one) override { return one; }
  std::unique_ptr<comm::shared::Hands> hands() override { return nullptr; }
  std::unique_ptr<Repeat> record(const std::function<void()>&) override { return nullptr; }
  std::string gpu() const override { return ""; }
  std::function<std::optional<measure::DeviceReading>()> sensors() override { return {}; }
  void limit_memory(std::uint64_t) override {}
  bool count_memory(std::shared_ptr<measure::MemoryAccount>) override { return true; }
};

comm::Operation on_device(float* value) {
  const comm::Buffer buffer{value, sizeof(float), comm::ElementType::f32, comm::Place::device};
  return comm::all_reduce(buffer, comm::ReduceOp::sum, comm::Purpose::gradient);
}
comm::Operation on_host(float* value) {
  return comm::all_reduce(comm::host_buffer(value, 1, comm::ElementType::f32), comm::ReduceOp::sum,
                          comm::Purpose::control);
}

TEST(OrderedCommunicator, OfADeviceTakesTurnsWithThoseMadeFromIt) {
  Lines lines;
  float value = 0;
  NotingQueue compute, beside;
  const auto one = compute.ordered(std::make_unique<NotingCommunicator>("a", "nccl", lines));
  const auto other = beside.ordered(one->duplicate());
  one->start(on_device(&value), {});
  one->start(on_device(&value), {});
  other->run(on_device(&value));
  one->run(on_host(&value));
  other->start(on_device(&value), {});  // what is run has ended
  EXPECT_THAT(lines, ElementsAre("a starts", "a starts", "a' waits for a's operation", "a' starts",
                                 "a waits for a''s operation", "a runs", "a' starts"));
}

TEST(OrderedCommunicator, ThatHasGoneIsNotWaitedFor) {
  Lines lines;
  float value = 0;
  NotingQueue compute;
  const auto one = compute.ordered(std::make_unique<NotingCommunicator>("a", "p2p", lines));
  one->duplicate()->start(on_device(&value), {});
  one->start(on_device(&value), {});
  EXPECT_THAT(lines, ElementsAre("a' starts", "a starts"));
}

TEST(OrderedCommunicator, OfTheHostDoesNotTakeTurns) {
  Lines lines;
  float value = 0;
  NotingQueue compute;
  const auto one = compute.ordered(std::make_unique<NotingCommunicator>("a", "shm", lines));
  const auto other = one->duplicate();
  one->start(on_device(&value), {});
  other->start(on_device(&value), {});
  EXPECT_THAT(lines, ElementsAre("a starts", "a' starts"));
}

}  // namespace
}  // namespace lockstep::parallel
