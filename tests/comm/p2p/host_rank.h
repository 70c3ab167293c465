// One rank of p2p with host memory for the device's: its kernels run on threads of the host (host_device.h).
#pragma once

#include "tests/comm/p2p/host_device.h"

#include <sys/mman.h>

#include <cstring>
#include <thread>
#include <utility>

#include "lockstep/comm/p2p/move_kernels.cuh"
#include "lockstep/comm/p2p/peer_facts.h"
#include "lockstep/comm/p2p/phase_kernels.cuh"
#include "lockstep/comm/p2p/plan.h"
#include "lockstep/comm/p2p/reduce_kernels.cuh"

namespace lockstep::comm::p2p {

// Memory that forked ranks share, at the same address in each: all arenas, and the words of the group.
class SharedArenas {
 public:
  explicit SharedArenas(int world) : world_(world) {
    void* memory =
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base_ = static_cast<std::byte*>(memory);
    for (int rank = 0; rank < world; ++rank)
      for (const Meeting meeting : {Meeting::read, Meeting::taken})
        for (std::uint32_t& word : ranks()[rank].met[static_cast<int>(meeting)]) word = kCame;
  }
  ~SharedArenas() { ::munmap(base_, bytes()); }
  SharedArenas(const SharedArenas&) = delete;
  SharedArenas& operator=(const SharedArenas&) = delete;
  std::byte* of(int rank) const { return base_ + static_cast<std::size_t>(rank) * arena_bytes(world_, true); }
  RankWords* ranks() const { return reinterpret_cast<RankWords*>(of(world_)); }

 private:
  std::size_t bytes() const {
    return static_cast<std::size_t>(world_) * (arena_bytes(world_, true) + sizeof(RankWords));
  }
  int world_;
  std::byte* base_;
};

// Does operations as the communicator would.
class HostRank {
 public:
  HostRank(const SharedArenas& arenas, Group group, Waiting waiting, std::uint32_t most_blocks)
      : arenas_(arenas),
        group_(std::move(group)),
        waiting_(waiting),
        limits_(limits_here(waiting, most_blocks)) {}

  void run(const Operation& operation, std::chrono::nanoseconds timeout = std::chrono::seconds(30)) {
    const Plan plan = plan_of(operation);
    const Task task = task_for(operation, timeout);
    if (waiting_ == Waiting::blocks) return testing::run_kernel(plan.blocks, [&] { call(operation, task); });
    for (const Phase& phase : phases_for(operation)) {
      if (phase.waits != Meeting::none) wait_before(phase, task);
      if (looks_ahead(phase, plan.blocks)) testing::run_kernel(1, [&] { look_kernel(task, phase); });
      testing::run_kernel(plan.blocks, [&] { call_phase(operation, task, phase); });
    }
  }

  Plan plan_of(const Operation& operation) const { return plan_for(operation, group_.world, limits_); }
  std::vector<Phase> phases_for(const Operation& operation) const {
    const Plan plan = plan_of(operation);
    return phases_of(plan.algorithm, operation.collective == Collective::send, plan.rounds);
  }
  Task task_for(const Operation& operation, std::chrono::nanoseconds timeout = std::chrono::seconds(30)) {
    const Plan plan = plan_of(operation);
    Task task{};
    for (int rank = 0; rank < group_.world; ++rank) {
      task.arenas[rank] = arenas_.of(rank);
      if (!has_parts(plan.algorithm)) continue;
      const Part part = part_of(operation, rank, group_.world);
      task.part_offset[rank] = part.offset_bytes;
      task.part_bytes[rank] = part.bytes;
    }
    if (!has_parts(plan.algorithm)) task.part_bytes[0] = payload_bytes(operation, group_.world);
    task.input = static_cast<const std::byte*>(operation.input.data);
    task.output = static_cast<std::byte*>(operation.output.data);
    task.words = &words_;
    task.ranks = arenas_.ranks();
    task.first_wait = &first_wait_;
    task.timeout = static_cast<std::uint64_t>(timeout.count());
    task.piece_bytes = plan.piece_bytes;
    task.rounds = plan.rounds;
    task.signature = plan.signature;
    task.algorithm = plan.algorithm;
    task.rank = static_cast<std::uint32_t>(group_.rank);
    task.world = static_cast<std::uint32_t>(group_.world);
    task.root = static_cast<std::uint32_t>(operation.root);
    return task;
  }
  // On one thread of a block.
  static void call_phase(const Operation& operation, const Task& task, const Phase& phase) {
    if (phase.step != Step::reduce) return move_phase_kernel(task, phase);
    with_types(operation,
               [&]<typename Element, typename Op>() { reduce_phase_kernel<Element, Op>(task, phase); });
  }

  const HostWords& words() const { return words_; }
  HostWords& words() { return words_; }
  std::uint64_t first_wait() const { return first_wait_; }

 private:
  // In phases with rounds as small as one kernel's, and two-shot from the same size on: larger ones would
  // take too long here.
  static Limits limits_here(Waiting waiting, std::uint32_t most_blocks) {
    Limits limits = limits_of_one_kernel(most_blocks);
    limits.mail_blocks = most_blocks;
    limits.in_phases = waiting != Waiting::blocks;
    return limits;
  }

  // What the stream does. An abort ends it.
  void wait_before(const Phase& phase, const Task& task) const {
    const auto& met = task.ranks[task.rank].met[static_cast<std::size_t>(phase.waits)];
    for (std::uint32_t peer = 0; peer < task.world; ++peer) {
      if (is_of_message(phase.step) ? peer != task.root : peer == task.rank) continue;
      while ((__atomic_load_n(&met[peer], __ATOMIC_ACQUIRE) & kCame) == 0 &&
             __atomic_load_n(&words_.abort, __ATOMIC_ACQUIRE) == 0)
        std::this_thread::yield();
    }
  }

  static void call(const Operation& operation, const Task& task) {
    if (operation.collective == Collective::send) return send_kernel(task);
    if (operation.collective == Collective::receive) return receive_kernel(task);
    if (!reduces(task.algorithm)) return move_kernel(task);
    with_types(operation, [&]<typename Element, typename Op>() { reduce_kernel<Element, Op>(task); });
  }

  template <typename Kernel>
  static void with_types(const Operation& operation, const Kernel& kernel) {
    switch (operation.type()) {
      case ElementType::f64:
        return with_op<Plain<double>>(operation.reduce_op, kernel);
      case ElementType::f16:
        return with_op<Float16>(operation.reduce_op, kernel);
      case ElementType::bf16:
        return with_op<BFloat16>(operation.reduce_op, kernel);
      case ElementType::i32:
        return with_op<Plain<std::int32_t>>(operation.reduce_op, kernel);
      case ElementType::i64:
        return with_op<Plain<std::int64_t>>(operation.reduce_op, kernel);
      case ElementType::u8:
        return with_op<Plain<std::uint8_t>>(operation.reduce_op, kernel);
      case ElementType::f32:
        return with_op<Plain<float>>(operation.reduce_op, kernel);
    }
  }
  template <typename Element, typename Kernel>
  static void with_op(ReduceOp op, const Kernel& kernel) {
    switch (op) {
      case ReduceOp::sum:
        return kernel.template operator()<Element, Sum>();
      case ReduceOp::mean:
        return kernel.template operator()<Element, Mean>();
      case ReduceOp::max:
        return kernel.template operator()<Element, Max>();
      case ReduceOp::min:
        return kernel.template operator()<Element, Min>();
    }
  }

  const SharedArenas& arenas_;
  const Group group_;
  const Waiting waiting_;
  const Limits limits_;
  HostWords words_{};
  std::uint64_t first_wait_ = 0;
};

}  // namespace lockstep::comm::p2p
