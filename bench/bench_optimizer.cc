// What an update costs against the limit of memory. SGD with momentum reads weight, gradient and momentum and
// writes two of them back: 20 bytes an element in f32; Adam 28. `bytes_per_second` counts those, memcpy's its
// read and its write. ATen's operations on lists and libtorch's own optimiser run in the same list of
// benchmarks, on the same tensors.
//
//   bench_optimizer [--benchmark_filter=...]     threads: OMP_NUM_THREADS
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <torch/optim/sgd.h>

#include <cstring>
#include <vector>

#include "lockstep/train/optimizer.h"

namespace {

using lockstep::parallel::Updatable;

// The parameters of the lists, by benchmark argument.
enum List : std::int64_t { one_large, like_lenet5, like_resnet18 };

std::vector<std::vector<std::int64_t>> shapes_of(std::int64_t list) {
  if (list == one_large) return {{32 << 20}};
  if (list == like_lenet5) {
    return {{6, 1, 5, 5}, {6}, {16, 6, 5, 5}, {16}, {120, 400}, {120}, {84, 120}, {84}, {10, 84}, {10}};
  }
  std::vector<std::vector<std::int64_t>> shapes = {{64, 3, 7, 7}, {64}, {64}};
  for (const std::int64_t width : {64, 128, 256, 512}) {
    for (int i = 0; i < 4; ++i) shapes.insert(shapes.end(), {{width, width, 3, 3}, {width}, {width}});
  }
  return shapes;
}

std::vector<Updatable> make_list(std::int64_t list) {
  std::vector<Updatable> all;
  for (const auto& shape : shapes_of(list)) {
    all.push_back({std::to_string(all.size()), at::randn(shape), at::randn(shape)});
  }
  return all;
}

std::int64_t elements_of(const std::vector<Updatable>& list) {
  std::int64_t elements = 0;
  for (const Updatable& one : list) elements += one.value.numel();
  return elements;
}

void report(benchmark::State& state, std::int64_t elements, std::int64_t bytes_per_element) {
  state.SetBytesProcessed(state.iterations() * elements * bytes_per_element);
  state.counters["elements"] = static_cast<double>(elements);
  state.counters["threads"] = at::get_num_threads();
}

void ours(benchmark::State& state, const char* rule, std::int64_t bytes_per_element) {
  lockstep::record::RunSpec spec;
  spec.optimizer = rule;
  const std::vector<Updatable> list = make_list(state.range(0));
  const auto optimizer = lockstep::train::make_optimizer(spec);
  optimizer->step(list, 1e-6);
  for (auto _ : state) optimizer->step(list, 1e-6);
  report(state, elements_of(list), bytes_per_element);
}

void ours_sgd(benchmark::State& state) {
  ours(state, "sgd", 20);
}
void ours_adam(benchmark::State& state) {
  ours(state, "adam", 28);
}

// The same memory, cut and threaded in the same way, only copied.
void memory_copy(benchmark::State& state) {
  const std::int64_t bytes = elements_of(make_list(state.range(0))) * 4;
  const at::Tensor from = at::ones({bytes / 4}), to = at::zeros({bytes / 4});
  for (auto _ : state) {
    at::parallel_for(0, bytes, 1 << 17, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(static_cast<char*>(to.data_ptr()) + begin, static_cast<char*>(from.data_ptr()) + begin,
                  static_cast<std::size_t>(end - begin));
    });
    benchmark::ClobberMemory();
  }
  report(state, bytes / 4, 8);
}

void foreach_sgd(benchmark::State& state) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> weights, gradients, momenta;
  const std::vector<Updatable> list = make_list(state.range(0));
  for (const Updatable& one : list) {
    weights.push_back(one.value), gradients.push_back(one.gradient),
        momenta.push_back(at::zeros_like(one.value));
  }
  for (auto _ : state) {
    at::_foreach_mul_(momenta, 0.9);
    at::_foreach_add_(momenta, gradients, 1);
    at::_foreach_add_(weights, momenta, -1e-6);
  }
  report(state, elements_of(list), 20);
}

void libtorch_sgd(benchmark::State& state) {
  std::vector<at::Tensor> weights;
  const std::vector<Updatable> list = make_list(state.range(0));
  for (const Updatable& one : list) {
    weights.push_back(one.value.clone().requires_grad_());
    weights.back().mutable_grad() = one.gradient;
  }
  torch::optim::SGD optimizer(weights, torch::optim::SGDOptions(1e-6).momentum(0.9));
  for (auto _ : state) optimizer.step();
  report(state, elements_of(list), 20);
}

void square_norm(benchmark::State& state) {
  const std::vector<Updatable> list = make_list(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(lockstep::train::square_norm(list));
  report(state, elements_of(list), 4);
}

void each_list(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("list")->Arg(one_large)->Arg(like_resnet18)->Arg(like_lenet5)->UseRealTime();
}

BENCHMARK(memory_copy)->Apply(each_list);
BENCHMARK(ours_sgd)->Apply(each_list);
BENCHMARK(foreach_sgd)->Apply(each_list);
BENCHMARK(libtorch_sgd)->Apply(each_list);
BENCHMARK(ours_adam)->Apply(each_list);
BENCHMARK(square_norm)->Apply(each_list);

}  // namespace

BENCHMARK_MAIN();
