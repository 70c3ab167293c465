// A program that contains a gloo of its own, as one with pip's libtorch does: backend gloo uses the library
// that it was built with all the same.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/comm/gloo/open_gloo.h"
#include "tests/support/exact_cases.h"

// Symbols of gloo's that the plugin and the library call, exported by this program (ENABLE_EXPORTS).
#define ANOTHER(name, symbol)                                                                \
  extern "C" __attribute__((visibility("default"), used, noreturn)) void name() asm(symbol); \
  extern "C" void name() {                                                                   \
    std::abort();                                                                            \
  }
ANOTHER(another_barrier, "_ZN4gloo7barrierERNS_14BarrierOptionsE")
ANOTHER(another_context, "_ZN4gloo7ContextC2Eiii")
ANOTHER(another_address, "_ZN4gloo9transport3tcp7Address12fromSockNameEi")
ANOTHER(another_device, "_ZN4gloo9transport3tcp12CreateDeviceERKNS1_4attrE")
ANOTHER(another_all_reduce, "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE")
ANOTHER(another_buffer, "_ZN4gloo7Context19createUnboundBufferEPvm")
ANOTHER(another_registration, "_ZN4gloo9transport3tcp6Device18registerDescriptorEiiPNS1_7HandlerE")
#undef ANOTHER

namespace lockstep::testing {
namespace {

TEST(AnotherGlooInTheProcess, IsNotCalled) {
  expect_ranks_succeed(2, [](Rank& rank) {
    GlooRank gloo(rank);
    for (const ExactCase& test : exact_cases(2, false)) run_exact_case(test, *gloo.communicator);
  });
}

}  // namespace
}  // namespace lockstep::testing
