// A program that contains a gloo of its own, as one with pip's libtorch does: backend gloo is refused with
// the reason, instead of a crash in whichever of the two is called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/registry.h"

// A symbol of gloo's, exported by this program (ENABLE_EXPORTS).
extern "C" __attribute__((visibility("default"), used)) void barrier_of_another_gloo() asm(
    "_ZN4gloo7barrierERNS_14BarrierOptionsE");
extern "C" void barrier_of_another_gloo() {}

namespace lockstep::comm {
namespace {

TEST(AnotherGlooInTheProcess, IsNamedAndTheBackendRefused) {
  const PluginBackend backend("gloo", default_plugin_directory() / "backend_gloo.so");
  const Availability availability = backend.availability();
  EXPECT_FALSE(availability.available);
  EXPECT_THAT(availability.detail,
              ::testing::HasSubstr("another_gloo_test of this process contains a gloo of its own"));
}

}  // namespace
}  // namespace lockstep::comm
