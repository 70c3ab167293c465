#include "lockstep/record/threads.h"

namespace lockstep::record {

std::optional<int> threads_per_worker(const RunRecord& record) {
  if (record.threads) return record.threads;
  if (!record.spec.is_object()) return std::nullopt;
  const nlohmann::json asked = record.spec.value("threads", nlohmann::json());
  return asked.is_number_integer() ? std::optional(asked.get<int>()) : std::nullopt;
}

int workers_on_host(const RunRecord& record) {
  return record.local_world.value_or(record.workers);
}

}  // namespace lockstep::record
