#include "lockstep/parallel/compression.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {
namespace {

// What torch rounds to is the yardstick: to nearest, ties to even, subnormals and infinities too.
at::Tensor telling_values() {
  at::Tensor values = at::cat({at::randn({1000}), at::randn({1000}) * 1e-6, at::randn({1000}) * 1e5,
                               at::full({1}, 65519.f), at::full({1}, 65520.f), at::zeros({1})});
  return values.contiguous();
}

TEST(Compression, RoundsAsTorchDoes) {
  const at::Tensor values = telling_values();
  for (const auto& [name, type] : {std::pair{"f16", at::kHalf}, std::pair{"bf16", at::kBFloat16}}) {
    const Compression compression(name);
    at::Tensor sent = at::empty(values.sizes(), type);
    at::Tensor back = at::empty_like(values);
    EXPECT_TRUE(compression.on());
    EXPECT_EQ(compression.sent_bytes(buffer_of(values)) * 2, values.nbytes());
    compression.pack(buffer_of(sent), buffer_of(values));
    compression.unpack(buffer_of(back), buffer_of(sent));
    EXPECT_TRUE(at::equal(sent, values.to(type))) << name;
    EXPECT_TRUE(at::equal(back, values.to(type).to(at::kFloat))) << name;
  }
}

TEST(Compression, OfNoneCopies) {
  const Compression none("none");
  const at::Tensor values = telling_values();
  at::Tensor copy = at::empty_like(values);
  EXPECT_FALSE(none.on());
  EXPECT_EQ(none.sent_bytes(buffer_of(values)), values.nbytes());
  none.pack(buffer_of(copy), buffer_of(values));
  EXPECT_TRUE(at::equal(copy, values));
}

}  // namespace
}  // namespace lockstep::parallel
