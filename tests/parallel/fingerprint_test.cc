#include "lockstep/parallel/fingerprint.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lockstep/base/error.h"
#include "tests/support/ranks.h"
#include "tests/support/replicas.h"

namespace lockstep::parallel {
namespace {

using lockstep::testing::check;
using ::testing::HasSubstr;

at::Tensor numbers(std::int64_t count) {
  return at::arange(count, at::TensorOptions().dtype(at::kFloat));
}

void flip(const at::Tensor& tensor, std::size_t bit) {
  static_cast<std::uint8_t*>(tensor.data_ptr())[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
}

TEST(Fingerprint, AnyFlippedBitChangesIt) {
  const at::Tensor tensor = numbers(37);  // whole words, and a rest
  const std::uint64_t whole = fingerprint({tensor});
  std::set<std::uint64_t> seen = {whole};
  for (std::size_t bit = 0; bit < tensor.nbytes() * 8; ++bit) {
    flip(tensor, bit);
    EXPECT_TRUE(seen.insert(fingerprint({tensor})).second) << "bit " << bit;
    flip(tensor, bit);
  }
  EXPECT_EQ(fingerprint({tensor}), whole);
}

TEST(Fingerprint, TwoFlippedSignsDoNotCancel) {
  const at::Tensor tensor = numbers(64);
  const std::uint64_t whole = fingerprint({tensor});
  flip(tensor, 31);
  flip(tensor, 31 + 512);
  EXPECT_NE(fingerprint({tensor}), whole);
}

TEST(Fingerprint, DependsOnWhichTensorHoldsWhat) {
  EXPECT_NE(fingerprint({numbers(8), numbers(9)}), fingerprint({numbers(9), numbers(8)}));
}

TEST(EqualReplicas, PassWhenTheyAre) {
  lockstep::testing::expect_replicas_succeed(
      3, [](comm::Communicator& communicator) { require_equal_replicas(communicator, {numbers(100)}, 5); });
}

TEST(EqualReplicas, NameTheRankThatDiffers) {
  lockstep::testing::expect_replicas_succeed(3, [](comm::Communicator& communicator) {
    const at::Tensor mine = numbers(100);
    if (communicator.group().rank == 2) flip(mine, 0);
    std::string message;
    try {
      require_equal_replicas(communicator, {mine}, 5);
    } catch (const base::VerificationError& error) {
      message = error.what();
    }
    check(message.find("after step 5 the parameters of rank 2 are not those of rank 0") != std::string::npos,
          "not '" + message + "'");
  });
}

}  // namespace
}  // namespace lockstep::parallel
