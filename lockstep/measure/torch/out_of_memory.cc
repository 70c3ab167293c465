#include "lockstep/measure/torch/out_of_memory.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "lockstep/base/units.h"
#include "lockstep/measure/torch/device_blocks.h"
#include "lockstep/measure/torch/refusal.h"

namespace lockstep::measure {
namespace {

thread_local std::optional<OutOfMemory> refused;

// The device or the library does not say what it had and what it wanted.
constexpr std::uint64_t kUnknown = 0;

bool tells_of_the_last_refusal(const std::exception& error) {
  return refused && std::string_view(error.what()).find(refused->what()) != std::string_view::npos;
}

[[noreturn]] void throw_with_the_text_of(const std::string& text) {
  throw OutOfMemory(kUnknown, kUnknown, "out of memory: " + text);
}

// When the error arrives here, much of what was in use is freed: what is known is the most there ever was.
std::string text_of_the_peak() {
  const MemoryAccount* account = device_account();
  if (account == nullptr) return "";
  return fmt::format(" At most {} were in use by this worker ({}).",
                     base::format_bytes(account->peak_bytes()), describe(account->by_use_at_peak()));
}

// Libraries that take device memory for themselves say so in their own words.
bool tells_of_a_full_device(std::string_view text) {
  return text.find("CUDA error: out of memory") != std::string_view::npos ||
         text.find("CUBLAS_STATUS_ALLOC_FAILED") != std::string_view::npos ||
         text.find("CUDNN_STATUS_ALLOC_FAILED") != std::string_view::npos;
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
    throw_with_the_text_of(error.what_without_backtrace() + text_of_the_peak());
  } catch (const std::bad_alloc&) {
    throw_with_the_text_of(
        "the machine has no more memory for this worker. Use a smaller batch (--batch-size).");
  } catch (const c10::Error& error) {
    if (tells_of_the_last_refusal(error)) throw OutOfMemory(*refused);
    if (!tells_of_a_full_device(error.what())) throw;
    throw_with_the_text_of(error.what_without_backtrace() + text_of_the_peak());
  } catch (const std::exception& error) {
    if (tells_of_the_last_refusal(error)) throw OutOfMemory(*refused);
    throw;
  }
}

}  // namespace lockstep::measure
