// Benches that cannot fit are refused before anything starts.
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/cli/bench/bench_memory.h"

namespace lockstep::cli {
namespace {

TEST(BenchMemory, CountsEveryLaneOfEveryWorker) {
  BenchOptions options;
  options.backends = {"shm", "gloo"};
  options.max_bytes = 1000;
  EXPECT_EQ(needed_bytes(options, 2), 6000u);  // shm owned, shm private, gloo
  options.buffer = BufferChoice::owned;
  options.algorithms["gloo"] = {"auto", "ring"};
  EXPECT_EQ(needed_bytes(options, 2), 6000u);
}

TEST(BenchMemory, NamesBothFiguresWhenBuffersDoNotFit) {
  BenchOptions options;
  options.backends = {"shm"};
  options.max_bytes = std::uint64_t{1} << 40;
  try {
    require_memory(options, 2, std::uint64_t{8} << 30);
    FAIL() << "must be refused";
  } catch (const base::ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("4.00 TiB"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("8.00 GiB"), std::string::npos) << error.what();
  }
}

TEST(BenchMemory, SaturatesInsteadOfWrappingAround) {
  BenchOptions options;
  options.backends = {"shm"};
  options.max_bytes = std::uint64_t{1} << 62;
  EXPECT_THROW(require_memory(options, 4096, std::uint64_t{8} << 30), base::ConfigError);
}

}  // namespace
}  // namespace lockstep::cli
