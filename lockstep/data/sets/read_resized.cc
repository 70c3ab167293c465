// Reading many image files at once, on several threads.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

// Calls work(i) for every i below count on several threads; the first exception is thrown again here.
template <class Work>
void for_each_index(std::size_t count, Work work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  constexpr std::size_t kMostThreads = 8;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min({cores, kMostThreads, count}); ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

ImageStore read_resized(const std::vector<std::filesystem::path>& files, int height, int width) {
  const ImageShape shape{3, height, width};
  std::vector<std::uint8_t> pixels(files.size() * shape.elements());
  for_each_index(files.size(), [&](std::size_t i) {
    const Image image = resized(read_image(files[i]), height, width);
    std::copy(image.pixels.begin(), image.pixels.end(),
              pixels.begin() + static_cast<std::ptrdiff_t>(i * shape.elements()));
  });
  return {shape, std::move(pixels)};
}

}  // namespace lockstep::data
