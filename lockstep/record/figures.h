// The groups of figures that both events and records hold. Everything measured is optional: an engine leaves
// out what it cannot measure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace lockstep::record {

// Where the time of a step went, in seconds.
struct SplitSeconds {
  std::optional<double> data;   // waiting for data
  std::optional<double> input;  // moving input to the device
  std::optional<double> forward;
  std::optional<double> backward;
  std::optional<double> exposed_comm;  // communication in which the worker had nothing else to do
  std::optional<double> optimizer;
  std::optional<double> other;  // what these leave of the step

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("data", self.data);
    archive("input", self.input);
    archive("forward", self.forward);
    archive("backward", self.backward);
    archive("exposed_comm", self.exposed_comm);
    archive("optimizer", self.optimizer);
    archive("other", self.other);
  }
  bool operator==(const SplitSeconds&) const = default;
};

// On held-out samples.
struct QualityFigures {
  std::optional<double> val_loss;
  std::optional<double> val_accuracy;
  std::optional<double> val_psnr;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("val_loss", self.val_loss);
    archive("val_accuracy", self.val_accuracy);
    archive("val_psnr", self.val_psnr);
  }
  bool operator==(const QualityFigures&) const = default;
};

// One bucket of one step, or its medians; seconds from the start of backward.
struct BucketTimes {
  std::uint64_t bytes = 0;
  std::optional<double> ready_seconds;
  std::optional<double> start_seconds;
  std::optional<double> end_seconds;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("bytes", self.bytes);
    archive("ready_seconds", self.ready_seconds);
    archive("start_seconds", self.start_seconds);
    archive("end_seconds", self.end_seconds);
  }
  bool operator==(const BucketTimes&) const = default;
};

// Squared norms of the gradient before and after reduction: the gradient noise scale needs both.
struct SquareNorm {
  std::optional<double> local;
  std::optional<double> reduced;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("local", self.local);
    archive("reduced", self.reduced);
  }
  bool operator==(const SquareNorm&) const = default;
};

// Totals of one rank for one purpose, collective and link.
struct LedgerLine {
  int rank = 0;
  std::string purpose;
  std::string collective;
  std::string link;
  std::optional<std::uint64_t> payload_bytes;  // of a collective: on rank 0's lines only
  std::optional<std::uint64_t> wire_bytes;
  std::optional<std::uint64_t> messages;
  std::optional<double> busy_seconds;
  std::optional<bool> estimated;  // wire bytes and messages come from a formula

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("rank", self.rank);
    archive("purpose", self.purpose);
    archive("collective", self.collective);
    archive("link", self.link);
    archive("payload_bytes", self.payload_bytes);
    archive("wire_bytes", self.wire_bytes);
    archive("messages", self.messages);
    archive("busy_seconds", self.busy_seconds);
    archive("estimated", self.estimated);
  }
  bool operator==(const LedgerLine&) const = default;
};

// What a strategy's negotiation has exchanged over the whole run; payload bytes. The bytes of all its
// messages are cycles * bytes_per_cycle + 16 * (requests + negotiations) + 4 * answers.
struct ControlFigures {
  std::uint64_t cycles = 0;
  std::uint64_t bytes_per_cycle = 0;
  std::uint64_t negotiations = 0;  // cycles in which rank 0 was asked
  std::uint64_t requests = 0;      // of all ranks
  std::uint64_t answers = 0;       // tensors that rank 0 has named

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("cycles", self.cycles);
    archive("bytes_per_cycle", self.bytes_per_cycle);
    archive("negotiations", self.negotiations);
    archive("requests", self.requests);
    archive("answers", self.answers);
  }
  bool operator==(const ControlFigures&) const = default;
};

// Peak memory of a worker and what it was used for at that instant: parameters, gradients, buckets,
// optimizer, activations, communication, other.
struct MemoryFigures {
  std::uint64_t peak_bytes = 0;
  std::map<std::string, std::uint64_t> by_use;
  std::optional<std::uint64_t> cap_bytes;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("peak_bytes", self.peak_bytes);
    archive("by_use", self.by_use);
    archive("cap_bytes", self.cap_bytes);
  }
  bool operator==(const MemoryFigures&) const = default;
};

// Where a whole run's time went.
struct WallSeconds {
  std::optional<double> launch;
  std::optional<double> load;
  std::optional<double> train;
  std::optional<double> validate;
  std::optional<double> total;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("launch", self.launch);
    archive("load", self.load);
    archive("train", self.train);
    archive("validate", self.validate);
    archive("total", self.total);
  }
  bool operator==(const WallSeconds&) const = default;
};

// The target a run was to reach; epochs and seconds are set once it did.
struct TargetFigures {
  std::string metric;
  double value = 0;
  std::optional<double> epochs;
  std::optional<double> seconds;

  template <class Archive, class Self>
  static void describe(Archive& archive, Self& self) {
    archive("metric", self.metric);
    archive("value", self.value);
    archive("epochs", self.epochs);
    archive("seconds", self.seconds);
  }
  bool operator==(const TargetFigures&) const = default;
};

}  // namespace lockstep::record
