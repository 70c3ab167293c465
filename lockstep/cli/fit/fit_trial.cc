#include "lockstep/cli/fit/fit_trial.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/units.h"
#include "lockstep/cli/captured_program.h"

namespace lockstep::cli {
namespace {

// Every batch is one epoch: there are as many samples as it needs, and no more.
std::vector<std::string> command_for(const FitOptions& options, const Answer& answer, std::int64_t batch,
                                     const std::filesystem::path& store) {
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe").string(), "train"};
  command.insert(command.end(), options.passed_on.begin(), options.passed_on.end());
  command.insert(command.end(), answer.flags.begin(), answer.flags.end());
  const std::vector<std::string> own = {"--device-memory",
                                        std::to_string(options.device_memory),
                                        "--batch-size",
                                        std::to_string(batch),
                                        "--train-samples",
                                        std::to_string(batch * answer.workers),
                                        "--steps",
                                        std::to_string(options.steps),
                                        "--skip-steps",
                                        "1",
                                        "--validate-every",
                                        "0",
                                        "--check-every",
                                        "0",
                                        "--store",
                                        store.string(),
                                        "--progress",
                                        "none",
                                        "--json"};
  command.insert(command.end(), own.begin(), own.end());
  return command;
}

BatchTrial trial_from(const nlohmann::json& record, std::int64_t batch) {
  BatchTrial trial{batch, true, 0, {}};
  if (record.contains("memory")) trial.peak_bytes = record["memory"].value("peak_bytes", std::uint64_t{0});
  const nlohmann::json steps = record.value("steps", nlohmann::json::object());
  if (steps.contains("samples_per_second"))
    trial.seconds_per_sample = 1 / steps["samples_per_second"].get<double>();
  return trial;
}

[[noreturn]] void refuse(const Captured& run, const std::string& what, const nlohmann::json& record) {
  const nlohmann::json failure =
      record.is_object() ? record.value("failure", nlohmann::json::object()) : nlohmann::json::object();
  const std::string message = failure.value("message", run.error);
  const int code = run.status.kind == launch::ExitStatus::Kind::exited ? run.status.number : 1;
  throw base::Error(code >= 2 && code <= 4 ? static_cast<base::ExitCode>(code) : base::ExitCode::run_failed,
                    fmt::format("{} failed, and not for want of memory: {}", what, message));
}

}  // namespace

BatchTrial try_batch(const FitOptions& options, const Answer& answer, std::int64_t batch,
                     const std::filesystem::path& store, const launch::SignalWatch& signals) {
  const std::string what = fmt::format("the trial of {} with a batch of {} per worker", answer.name, batch);
  const Captured run =
      capture(command_for(options, answer, batch, store), what, options.trial_timeout, &signals);
  const nlohmann::json record = base::try_parse_json(run.output);
  if (record.is_object() && record.value("status", "") == "out_of_memory") return {batch, false, 0, {}};
  if (!run.status.ok() || !record.is_object()) refuse(run, what, record);
  return trial_from(record, batch);
}

}  // namespace lockstep::cli
