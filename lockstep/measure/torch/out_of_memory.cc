#include "lockstep/measure/torch/out_of_memory.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "lockstep/measure/torch/refusal.h"

namespace lockstep::measure {
namespace {

thread_local std::optional<OutOfMemory> refused;

// The device or the library does not say what it had and what it wanted.
constexpr std::uint64_t kUnknown = 0;

bool tells_of_the_last_refusal(const std::exception& error) {
  return refused && std::string_view(error.what()).find(refused->what()) != std::string_view::npos;
}

[[noreturn]] void throw_with_the_text_of(const char* text) {
  throw OutOfMemory(kUnknown, kUnknown, std::string("out of memory: ") + text);
}

}  // namespace

void remember_refusal(const OutOfMemory& refusal) {
  refused = refusal;
}

void rethrow_as_out_of_memory() {
  try {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw_with_the_text_of(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    throw_with_the_text_of(
        "the machine has no more memory for this worker. Use a smaller batch (--batch-size).");
  } catch (const std::exception& error) {
    if (tells_of_the_last_refusal(error)) throw OutOfMemory(*refused);
    throw;
  }
}

}  // namespace lockstep::measure
