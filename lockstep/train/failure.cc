#include "lockstep/train/failure.h"

#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/measure/torch/out_of_memory.h"
#include "lockstep/train/memory_need.h"

namespace lockstep::train {
namespace {

std::string kind_of(const base::Error& error) {
  if (dynamic_cast<const measure::OutOfMemory*>(&error) != nullptr) return "out_of_memory";
  if (dynamic_cast<const base::ConfigError*>(&error) != nullptr) return "configuration";
  if (dynamic_cast<const base::DataError*>(&error) != nullptr) return "data";
  if (dynamic_cast<const base::DeviceError*>(&error) != nullptr) return "device";
  if (dynamic_cast<const base::StoreError*>(&error) != nullptr) return "store";
  if (dynamic_cast<const base::VerificationError*>(&error) != nullptr) return "verification";
  const auto* comm = dynamic_cast<const base::CommError*>(&error);
  if (comm == nullptr) return "failed";
  return comm->kind() == base::CommError::Kind::collateral ? "collateral" : "communication";
}

record::FailedEvent event_of(const base::Error& error) {
  record::FailedEvent event{kind_of(error), error.what()};
  const auto* memory = dynamic_cast<const measure::OutOfMemory*>(&error);
  if (memory == nullptr || memory->cap_bytes() == 0) return event;  // a device's own error has no figures
  event.needed_bytes = memory->needed_bytes();
  event.cap_bytes = memory->cap_bytes();
  return event;
}

Ending with_our_memory_error(const std::function<Ending()>& body) {
  try {
    return body();
  } catch (...) {
    measure::rethrow_as_out_of_memory();
  }
}

Ending with_cures_named(const record::RunSpec& spec, const std::function<Ending()>& body) {
  try {
    return with_our_memory_error(body);
  } catch (const measure::OutOfMemory& refusal) {
    throw with_cures(refusal, spec);
  }
}

}  // namespace

void write_failure(EventLog& events, const record::FailedEvent& event) {
  try {
    events.write(event);
    events.flush();
  } catch (const base::StoreError&) {
  }
}

Ending report_failures(EventLog& events, const record::RunSpec& spec, const std::function<Ending()>& body) {
  try {
    return with_cures_named(spec, body);
  } catch (const base::Error& error) {
    write_failure(events, event_of(error));
    throw;
  } catch (const c10::Error& error) {
    write_failure(events, {"failed", error.what_without_backtrace()});
    throw base::Error(base::ExitCode::run_failed, fmt::format("rank {}: libtorch refused: {}", events.rank(),
                                                              error.what_without_backtrace()));
  }
}

}  // namespace lockstep::train
