#include "lockstep/cli/study/run_estimate.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/log.h"
#include "lockstep/base/statistics.h"
#include "lockstep/cli/captured_program.h"
#include "lockstep/cli/train/worker_program.h"
#include "lockstep/data/describe.h"
#include "lockstep/lab/run_index.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_resolve.h"

namespace lockstep::cli {
namespace {

constexpr base::Nanoseconds kDescribeLimit = std::chrono::minutes(1);

// What a core does in practice on small images, and what memory gives the optimiser; a guess that the first
// runs of the study correct.
constexpr double kFlopsPerCore = 25e9;
constexpr double kParameterBytesPerStep = 20, kBytesPerSecond = 5e9;
constexpr double kStepOverhead = 0.001, kStartSeconds = 1.2, kStartPerWorker = 0.5;

// A model's arithmetic goes with the square of its width and with its depth, where it has such options.
double share_of_default(const record::RunSpec& spec) {
  double share = 1;
  for (const record::ModelOption& option : record::model_entry(spec.model).options) {
    const auto given = spec.model_options.find(std::string(option.name));
    if (given == spec.model_options.end()) continue;
    const double ratio = given->second / option.value;
    if (option.name == "width") share *= ratio * ratio;
    if (option.name == "depth") share *= ratio;
  }
  return share;
}

double samples_of(const record::RunSpec& spec) {
  constexpr double kUnknown = 10'000;
  const auto published = data::describe(record::data_entry(spec.data), spec.data_dir).train_samples;
  const double all = published ? static_cast<double>(*published) : kUnknown;
  const bool drawn = record::data_entry(spec.data).source == record::Source::procedural;
  if (!spec.train_samples) return all;
  return drawn ? static_cast<double>(*spec.train_samples)
               : std::min(all, static_cast<double>(*spec.train_samples));
}

}  // namespace

double steps_of(const record::RunSpec& spec) {
  const double per_epoch =
      std::ceil(samples_of(spec) / static_cast<double>(record::batch_sizes(spec).global));
  double steps = per_epoch * static_cast<double>(spec.epochs.value_or(1));
  if (!spec.epochs && spec.steps) steps = static_cast<double>(*spec.steps);
  if (spec.steps) steps = std::min(steps, static_cast<double>(*spec.steps));
  return steps;
}

RunEstimate::RunEstimate(const std::filesystem::path& store) {
  lab::RunIndex index = lab::RunIndex::open(store);
  for (const lab::IndexedRun& run : index.runs())
    if (run.status == "finished" && run.total_seconds) earlier_[run.spec_hash].push_back(*run.total_seconds);
}

const std::map<std::string, RunEstimate::ModelCost>& RunEstimate::costs() {
  if (costs_) return *costs_;
  costs_.emplace();
  try {
    const auto worker = find_worker();
    if (!worker) return *costs_;
    const auto described = base::parse_json(
        output_of({worker->string(), "describe", "--json"}, "`lockstep-worker describe`", kDescribeLimit));
    for (const auto& model : described.at("models")) {
      const double flops = model.value("training_flops_per_sample", 3 * model.value("flops_per_sample", 0.0));
      const double pixels =
          model.contains("image") ? model["image"][1].get<double>() * model["image"][2].get<double>() : 0;
      (*costs_)[model.at("name")] = {flops, model.value("parameters", 0.0), pixels};
    }
  } catch (const std::exception& error) {
    base::log_debug(std::string("no estimate from the models' arithmetic: ") + error.what());
  }
  return *costs_;
}

double RunEstimate::seconds_of(const record::RunSpec& spec, const std::string& hash, int cores) {
  if (const auto found = earlier_.find(hash); found != earlier_.end()) return base::median(found->second);
  const auto workers = static_cast<double>(spec.workers);
  const double start = kStartSeconds + kStartPerWorker * std::ceil(workers / cores);
  const auto cost = costs().find(spec.model);
  if (cost == costs().end()) return start + steps_of(spec) * kStepOverhead;
  const double pixels = static_cast<double>(record::input_shape(spec).pixels());
  const double scale = share_of_default(spec) * (cost->second.pixels > 0 ? pixels / cost->second.pixels : 1);
  const double threads =
      workers * static_cast<double>(spec.threads.value_or(std::max<std::int64_t>(1, cores / spec.workers)));
  const double used = std::min(static_cast<double>(cores), threads);
  const double arithmetic = cost->second.training_flops * scale *
                            static_cast<double>(record::batch_sizes(spec).global) / (used * kFlopsPerCore);
  const double update = cost->second.parameters * kParameterBytesPerStep / kBytesPerSecond;
  return start + steps_of(spec) * (arithmetic + update + kStepOverhead);
}

}  // namespace lockstep::cli
