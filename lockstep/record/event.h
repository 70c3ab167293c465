// Events: what an engine says while it trains, one JSON object a line. The progress line, the store, a live
// page and the tests all read this one stream. Each rank writes its own; a reader merges them.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lockstep/record/figures.h"

namespace lockstep::record {

struct StartedEvent {
  static constexpr const char* kName = "started";
  std::string version;
  std::string engine;
  int workers = 1;
  std::int64_t batch_per_worker = 0;
  std::int64_t batch_global = 0;
  std::string started_at;  // UTC, ISO 8601
  std::optional<nlohmann::json> machine;
  std::optional<double> train_flops_per_sample;  // forward and backward
  std::optional<double> peak_flops_per_second;   // of this rank's device
  std::optional<int> threads = {};               // that this rank computes with

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("version", self.version);
    archive("engine", self.engine);
    archive("workers", self.workers);
    archive("batch_per_worker", self.batch_per_worker);
    archive("batch_global", self.batch_global);
    archive("started_at", self.started_at);
    archive("machine", self.machine);
    archive("train_flops_per_sample", self.train_flops_per_sample);
    archive("peak_flops_per_second", self.peak_flops_per_second);
    archive("threads", self.threads);
  }
  bool operator==(const StartedEvent&) const = default;
};

struct StepEvent {
  static constexpr const char* kName = "step";
  std::int64_t step = 0;  // from 0, over all epochs
  std::int64_t epoch = 0;
  double seconds = 0;
  std::int64_t samples = 0;    // of this rank
  std::optional<bool> warmup;  // to be kept out of statistics
  std::optional<double> loss;
  std::optional<SplitSeconds> split_seconds;
  std::optional<double> busy_seconds;
  std::optional<double> exposed_seconds;
  std::optional<double> peer_wait_seconds;
  std::optional<std::map<std::string, double>> exposed_by_purpose;
  std::optional<std::vector<BucketTimes>> buckets;
  std::optional<SquareNorm> gradient_square_norm;
  std::optional<std::map<std::string, double>> primitives_seconds;  // dp: replicate, scatter, ...

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("step", self.step);
    archive("epoch", self.epoch);
    archive("seconds", self.seconds);
    archive("samples", self.samples);
    archive("warmup", self.warmup);
    archive("loss", self.loss);
    archive("split_seconds", self.split_seconds);
    archive("busy_seconds", self.busy_seconds);
    archive("exposed_seconds", self.exposed_seconds);
    archive("peer_wait_seconds", self.peer_wait_seconds);
    archive("exposed_by_purpose", self.exposed_by_purpose);
    archive("buckets", self.buckets);
    archive("gradient_square_norm", self.gradient_square_norm);
    archive("primitives_seconds", self.primitives_seconds);
  }
  bool operator==(const StepEvent&) const = default;
};

// The figures of this rank's own samples; the record's averages weigh them by the sample counts.
struct EpochEvent {
  static constexpr const char* kName = "epoch";
  std::int64_t epoch = 0;  // from 1, as people count them
  double seconds = 0;
  std::optional<bool> unfinished;  // the run ended inside it
  std::optional<double> learning_rate;
  std::optional<std::int64_t> train_samples;
  std::optional<double> train_loss;
  std::optional<double> train_accuracy;
  std::optional<std::int64_t> val_samples;
  std::optional<double> val_loss;
  std::optional<double> val_accuracy;
  std::optional<double> val_psnr;
  std::optional<QualityFigures> before_averaging;  // of this rank's own model, on the same samples
  std::optional<QualityFigures> all_ranks;         // over all ranks' samples, for whoever watches one rank

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("epoch", self.epoch);
    archive("seconds", self.seconds);
    archive("unfinished", self.unfinished);
    archive("learning_rate", self.learning_rate);
    archive("train_samples", self.train_samples);
    archive("train_loss", self.train_loss);
    archive("train_accuracy", self.train_accuracy);
    archive("val_samples", self.val_samples);
    archive("val_loss", self.val_loss);
    archive("val_accuracy", self.val_accuracy);
    archive("val_psnr", self.val_psnr);
    archive("before_averaging", self.before_averaging);
    archive("all_ranks", self.all_ranks);
  }
  bool operator==(const EpochEvent&) const = default;
};

// This rank's totals since the run began; a later one replaces an earlier one.
struct LedgerEvent {
  static constexpr const char* kName = "ledger";
  std::vector<LedgerLine> rows;
  // Of the gradient's collective, bytes per second; measure computes them.
  std::optional<double> algorithm_bandwidth;
  std::optional<double> bus_bandwidth;
  std::optional<double> link_peak;
  std::optional<ControlFigures> control;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("rows", self.rows);
    archive("algorithm_bandwidth", self.algorithm_bandwidth);
    archive("bus_bandwidth", self.bus_bandwidth);
    archive("link_peak", self.link_peak);
    archive("control", self.control);
  }
  bool operator==(const LedgerEvent&) const = default;
};

// This rank's peak so far; a later one replaces an earlier one.
struct MemoryEvent : MemoryFigures {
  static constexpr const char* kName = "memory";
  bool operator==(const MemoryEvent&) const = default;
};

struct UtilisationEvent {
  static constexpr const char* kName = "utilisation";
  double device_percent = 0;
  std::optional<double> watts;      // of a GPU
  std::optional<double> megahertz;  // of its multiprocessors

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("device_percent", self.device_percent);
    archive("watts", self.watts);
    archive("megahertz", self.megahertz);
  }
  bool operator==(const UtilisationEvent&) const = default;
};

struct CheckpointEvent {
  static constexpr const char* kName = "checkpoint";
  std::string path;
  std::int64_t step = 0;
  std::optional<std::uint64_t> bytes;
  std::optional<double> seconds;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("path", self.path);
    archive("step", self.step);
    archive("bytes", self.bytes);
    archive("seconds", self.seconds);
  }
  bool operator==(const CheckpointEvent&) const = default;
};

struct WarningEvent {
  static constexpr const char* kName = "warning";
  std::string message;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("message", self.message);
  }
  bool operator==(const WarningEvent&) const = default;
};

// kind: "out_of_memory", "interrupted", "collateral" (this rank ends only because another failed), or the
// name of the error.
struct FailedEvent {
  static constexpr const char* kName = "failed";
  std::string kind;
  std::string message;
  std::optional<std::uint64_t> needed_bytes = {};  // out_of_memory: by a step
  std::optional<std::uint64_t> cap_bytes = {};
  std::optional<int> signalled_rank =
      {};  // interrupted: that was sent the signal; absent where the whole run was

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("kind", self.kind);
    archive("message", self.message);
    archive("needed_bytes", self.needed_bytes);
    archive("cap_bytes", self.cap_bytes);
    archive("signalled_rank", self.signalled_rank);
  }
  bool operator==(const FailedEvent&) const = default;
};

struct FinishedEvent {
  static constexpr const char* kName = "finished";
  WallSeconds wall_seconds;
  std::optional<TargetFigures> target;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("wall_seconds", self.wall_seconds);
    archive("target", self.target);
  }
  bool operator==(const FinishedEvent&) const = default;
};

using EventBody = std::variant<StartedEvent, StepEvent, EpochEvent, LedgerEvent, MemoryEvent,
                               UtilisationEvent, CheckpointEvent, WarningEvent, FailedEvent, FinishedEvent>;

struct Event {
  int rank = 0;
  double time = 0;  // seconds since the run began, on the run's common clock
  EventBody body;
  bool operator==(const Event&) const = default;
};

// {"event": "step", "rank": 0, "time": 1.25, ...}: one line, without the line feed.
std::string to_line(const Event& event);
// Throws StoreError that says what is wrong. A kind of event this version does not know gives nothing.
std::optional<Event> event_from_line(const std::string& line);

// The kind of event that a line tells of, without reading the rest of it: "step". Nothing for a line that is
// no event's.
std::optional<std::string_view> kind_of_line(std::string_view line);

// Reads a rank's file. A last line that a crash cut short is left out; a bad line before it throws StoreError
// with `name` and the line number.
std::vector<Event> read_events(std::istream& stream, const std::string& name);

// Several ranks' events in the order of time, ties by rank; each rank's own order is kept.
std::vector<Event> merge_events(std::vector<std::vector<Event>> ranks);

}  // namespace lockstep::record
