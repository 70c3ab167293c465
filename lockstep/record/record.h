// RunRecord: what remains of a run. Schema 1; docs/record.md explains it field by field. Fields are added,
// never renamed. What an engine could not measure is absent.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/record/figures.h"
#include "lockstep/record/spec.h"

namespace lockstep::record {

inline constexpr int kRecordSchema = 1;

struct BatchFigures {
  std::int64_t per_worker = 0;
  std::int64_t global = 0;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("per_worker", self.per_worker);
    archive("global", self.global);
  }
  bool operator==(const BatchFigures&) const = default;
};

// One rank's part of an epoch.
struct EpochRankFigures {
  int rank = 0;
  std::optional<double> train_loss;
  std::optional<double> train_accuracy;
  std::optional<double> val_loss;
  std::optional<double> val_accuracy;
  std::optional<double> val_psnr;
  std::optional<QualityFigures> before_averaging;  // localsgd

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("rank", self.rank);
    archive("train_loss", self.train_loss);
    archive("train_accuracy", self.train_accuracy);
    archive("val_loss", self.val_loss);
    archive("val_accuracy", self.val_accuracy);
    archive("val_psnr", self.val_psnr);
    archive("before_averaging", self.before_averaging);
  }
  bool operator==(const EpochRankFigures&) const = default;
};

struct EpochFigures {
  std::int64_t epoch = 0;
  double seconds = 0;
  std::optional<double> train_loss;
  std::optional<double> train_accuracy;
  std::optional<double> val_loss;
  std::optional<double> val_accuracy;
  std::optional<double> val_psnr;
  std::optional<double> learning_rate;
  std::optional<QualityFigures> before_averaging;  // localsgd: means over the ranks' own models
  std::optional<bool> unfinished;                  // the run ended inside it
  std::vector<EpochRankFigures> per_rank;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("epoch", self.epoch);
    archive("seconds", self.seconds);
    archive("train_loss", self.train_loss);
    archive("train_accuracy", self.train_accuracy);
    archive("val_loss", self.val_loss);
    archive("val_accuracy", self.val_accuracy);
    archive("val_psnr", self.val_psnr);
    archive("learning_rate", self.learning_rate);
    archive("before_averaging", self.before_averaging);
    archive("unfinished", self.unfinished);
    archive("per_rank", self.per_rank);
  }
  bool operator==(const EpochFigures&) const = default;
};

struct TimeStatistics {
  double median = 0;
  double mean = 0;
  double p5 = 0;
  double p95 = 0;
  std::vector<double> ci95;  // [low, high], of the median; empty for fewer than six steps

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("median", self.median);
    archive("mean", self.mean);
    archive("p5", self.p5);
    archive("p95", self.p95);
    archive("ci95", self.ci95);
  }
  bool operator==(const TimeStatistics&) const = default;
};

struct StepFigures {
  std::int64_t count = 0;   // all steps
  std::int64_t warmup = 0;  // of them, left out of what follows
  std::optional<TimeStatistics> seconds;
  std::vector<double> samples;                // step times in order
  std::optional<std::int64_t> samples_every;  // set when thinned: every how many-th step time was kept
  std::optional<SplitSeconds> split_seconds;
  std::optional<std::map<std::string, double>> primitives_seconds;  // dp: means per step of replica 0
  std::optional<double> samples_per_second;
  std::optional<double> flops_per_second;
  std::optional<double> share_of_peak;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("count", self.count);
    archive("warmup", self.warmup);
    archive("seconds", self.seconds);
    archive("samples", self.samples);
    archive("samples_every", self.samples_every);
    archive("split_seconds", self.split_seconds);
    archive("primitives_seconds", self.primitives_seconds);
    archive("samples_per_second", self.samples_per_second);
    archive("flops_per_second", self.flops_per_second);
    archive("share_of_peak", self.share_of_peak);
  }
  bool operator==(const StepFigures&) const = default;
};

struct CommFigures {
  std::optional<double> busy_seconds;
  std::optional<double> exposed_seconds;
  std::optional<double> peer_wait_seconds;
  std::optional<std::map<std::string, double>> exposed_by_purpose;
  std::optional<double> hidden_fraction;
  std::optional<double> algorithm_bandwidth;
  std::optional<double> bus_bandwidth;
  std::optional<double> link_peak;
  std::optional<double> utilization;
  std::optional<std::vector<BucketTimes>> buckets;
  std::optional<SquareNorm> gradient_square_norm;
  std::optional<ControlFigures> control;  // totals of the run, where a strategy negotiates

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("busy_seconds", self.busy_seconds);
    archive("exposed_seconds", self.exposed_seconds);
    archive("peer_wait_seconds", self.peer_wait_seconds);
    archive("exposed_by_purpose", self.exposed_by_purpose);
    archive("hidden_fraction", self.hidden_fraction);
    archive("algorithm_bandwidth", self.algorithm_bandwidth);
    archive("bus_bandwidth", self.bus_bandwidth);
    archive("link_peak", self.link_peak);
    archive("utilization", self.utilization);
    archive("buckets", self.buckets);
    archive("gradient_square_norm", self.gradient_square_norm);
    archive("control", self.control);
  }
  bool operator==(const CommFigures&) const = default;
};

struct UtilizationFigures {
  double device_percent_mean = 0;
  std::vector<double> samples;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("device_percent_mean", self.device_percent_mean);
    archive("samples", self.samples);
  }
  bool operator==(const UtilizationFigures&) const = default;
};

struct RankFigures {
  int rank = 0;
  std::optional<SplitSeconds> split_seconds;
  std::optional<std::map<std::string, double>> primitives_seconds;
  std::optional<double> busy_seconds;
  std::optional<double> exposed_seconds;
  std::optional<double> peer_wait_seconds;
  std::optional<std::uint64_t> peak_bytes;
  std::optional<double> device_percent_mean;
  std::optional<double> train_loss;
  std::optional<double> val_loss;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("rank", self.rank);
    archive("split_seconds", self.split_seconds);
    archive("primitives_seconds", self.primitives_seconds);
    archive("busy_seconds", self.busy_seconds);
    archive("exposed_seconds", self.exposed_seconds);
    archive("peer_wait_seconds", self.peer_wait_seconds);
    archive("peak_bytes", self.peak_bytes);
    archive("device_percent_mean", self.device_percent_mean);
    archive("train_loss", self.train_loss);
    archive("val_loss", self.val_loss);
  }
  bool operator==(const RankFigures&) const = default;
};

struct FailureFigures {
  int rank = 0;
  std::string kind;
  std::string message;
  std::optional<std::uint64_t> needed_bytes = {};  // out_of_memory: by a step
  std::optional<std::uint64_t> cap_bytes = {};

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("rank", self.rank);
    archive("kind", self.kind);
    archive("message", self.message);
    archive("needed_bytes", self.needed_bytes);
    archive("cap_bytes", self.cap_bytes);
  }
  bool operator==(const FailureFigures&) const = default;
};

struct RunRecord {
  int schema = kRecordSchema;
  std::string id;
  std::string spec_hash;
  std::optional<std::string> study;
  std::optional<std::string> cell;
  std::optional<std::int64_t> repeat;
  std::string started_at;
  std::string version;
  std::string engine;
  nlohmann::json spec;     // as stored: a record stays readable when fields are added to specs
  nlohmann::json machine;  // the fingerprint (machine.h)
  std::string status;      // "finished", "failed", "out_of_memory" or "interrupted"
  WallSeconds wall_seconds;
  BatchFigures batch;
  int workers = 1;
  std::optional<int> local_world;      // workers on the machine's host, where that is not all of them
  std::optional<int> threads;          // of each worker, as it started
  std::optional<bool> oversubscribed;  // true: more threads than cores; to be kept out of fits
  std::vector<EpochFigures> epochs;
  StepFigures steps;
  CommFigures comm;
  std::vector<LedgerLine> ledger;
  std::optional<MemoryFigures> memory;
  std::optional<UtilizationFigures> utilization;
  std::vector<RankFigures> per_rank;
  std::optional<TargetFigures> target;
  std::vector<std::string> warnings;
  std::optional<FailureFigures> failure;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("schema", self.schema);
    archive("id", self.id);
    archive("spec_hash", self.spec_hash);
    archive("study", self.study);
    archive("cell", self.cell);
    archive("repeat", self.repeat);
    archive("started_at", self.started_at);
    archive("version", self.version);
    archive("engine", self.engine);
    archive("spec", self.spec);
    archive("machine", self.machine);
    archive("status", self.status);
    archive("wall_seconds", self.wall_seconds);
    archive("batch", self.batch);
    archive("workers", self.workers);
    archive("local_world", self.local_world);
    archive("threads", self.threads);
    archive("oversubscribed", self.oversubscribed);
    archive("epochs", self.epochs);
    archive("steps", self.steps);
    archive("comm", self.comm);
    archive("ledger", self.ledger);
    archive("memory", self.memory);
    archive("utilization", self.utilization);
    archive("per_rank", self.per_rank);
    archive("target", self.target);
    archive("warnings", self.warnings);
    archive("failure", self.failure);
  }
  bool operator==(const RunRecord&) const = default;
};

nlohmann::json to_json(const RunRecord& record);
// Throws StoreError: a higher schema (by number, with the cure), a field that is missing or of the wrong
// kind.
RunRecord record_from_json(const nlohmann::json& json);

}  // namespace lockstep::record
