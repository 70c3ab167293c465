#include "lockstep/lab/run_figures.h"

#include <array>

#include "lockstep/base/statistics.h"
#include "lockstep/record/last_epoch.h"

namespace lockstep::lab {
namespace {

using record::RunRecord;
using Figure = std::optional<double>;

Figure step_seconds(const RunRecord& r) {
  return r.steps.seconds ? Figure(r.steps.seconds->median) : std::nullopt;
}
Figure samples_per_second(const RunRecord& r) {
  return r.steps.samples_per_second;
}
Figure flops_per_second(const RunRecord& r) {
  return r.steps.flops_per_second;
}

Figure epoch_seconds(const RunRecord& r) {
  std::vector<double> seconds;
  for (const record::EpochFigures& epoch : r.epochs)
    if (!epoch.unfinished.value_or(false)) seconds.push_back(epoch.seconds);
  return seconds.empty() ? std::nullopt : std::optional(base::median(seconds));
}

Figure launch_seconds(const RunRecord& r) {
  return r.wall_seconds.launch;
}
Figure load_seconds(const RunRecord& r) {
  return r.wall_seconds.load;
}
Figure train_seconds(const RunRecord& r) {
  return r.wall_seconds.train;
}
Figure validate_seconds(const RunRecord& r) {
  return r.wall_seconds.validate;
}
Figure total_seconds(const RunRecord& r) {
  return r.wall_seconds.total;
}

Figure last(const RunRecord& r, Figure record::EpochFigures::*field) {
  return record::last_figure(r.epochs, field);
}
Figure train_loss(const RunRecord& r) {
  return last(r, &record::EpochFigures::train_loss);
}
Figure train_accuracy(const RunRecord& r) {
  return last(r, &record::EpochFigures::train_accuracy);
}
Figure val_loss(const RunRecord& r) {
  return last(r, &record::EpochFigures::val_loss);
}
Figure val_accuracy(const RunRecord& r) {
  return last(r, &record::EpochFigures::val_accuracy);
}
Figure val_psnr(const RunRecord& r) {
  return last(r, &record::EpochFigures::val_psnr);
}

Figure split(const RunRecord& r, Figure record::SplitSeconds::*span) {
  return r.steps.split_seconds ? (*r.steps.split_seconds).*span : std::nullopt;
}
Figure data_seconds(const RunRecord& r) {
  return split(r, &record::SplitSeconds::data);
}
Figure forward_seconds(const RunRecord& r) {
  return split(r, &record::SplitSeconds::forward);
}
Figure backward_seconds(const RunRecord& r) {
  return split(r, &record::SplitSeconds::backward);
}
Figure optimizer_seconds(const RunRecord& r) {
  return split(r, &record::SplitSeconds::optimizer);
}
Figure compute_seconds(const RunRecord& r) {
  const Figure parts[] = {forward_seconds(r), backward_seconds(r), optimizer_seconds(r)};
  double sum = 0;
  for (const Figure& part : parts) {
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

Figure busy_seconds(const RunRecord& r) {
  return r.comm.busy_seconds;
}
Figure exposed_seconds(const RunRecord& r) {
  return r.comm.exposed_seconds;
}
Figure peer_wait_seconds(const RunRecord& r) {
  return r.comm.peer_wait_seconds;
}
Figure hidden_fraction(const RunRecord& r) {
  return r.comm.hidden_fraction;
}
Figure algorithm_bandwidth(const RunRecord& r) {
  return r.comm.algorithm_bandwidth;
}
Figure bus_bandwidth(const RunRecord& r) {
  return r.comm.bus_bandwidth;
}

// The sum over the ledger's rows of a purpose (any, where it is empty) that hold the field.
Figure sum_of(const RunRecord& r, std::optional<std::uint64_t> record::LedgerLine::*field,
              std::string_view purpose) {
  Figure sum;
  for (const record::LedgerLine& line : r.ledger) {
    if (!purpose.empty() && line.purpose != purpose) continue;
    if (const auto& value = line.*field) sum = sum.value_or(0) + static_cast<double>(*value);
  }
  return sum;
}
Figure payload_bytes(const RunRecord& r) {
  return sum_of(r, &record::LedgerLine::payload_bytes, "");
}
Figure gradient_payload_bytes(const RunRecord& r) {
  return sum_of(r, &record::LedgerLine::payload_bytes, "gradient");
}
Figure input_payload_bytes(const RunRecord& r) {
  return sum_of(r, &record::LedgerLine::payload_bytes, "input");
}
Figure metric_payload_bytes(const RunRecord& r) {
  return sum_of(r, &record::LedgerLine::payload_bytes, "metric");
}
// Every step's loss is summed over ranks; what else has that purpose comes once an epoch, gathered.
Figure loss_payload_bytes(const RunRecord& r) {
  Figure sum;
  for (const record::LedgerLine& line : r.ledger)
    if (line.purpose == "metric" && line.collective == "all_reduce" && line.payload_bytes)
      sum = sum.value_or(0) + static_cast<double>(*line.payload_bytes);
  return sum;
}
Figure wire_bytes(const RunRecord& r) {
  return sum_of(r, &record::LedgerLine::wire_bytes, "");
}
Figure messages(const RunRecord& r) {
  return sum_of(r, &record::LedgerLine::messages, "");
}

Figure peak_bytes(const RunRecord& r) {
  return r.memory ? Figure(static_cast<double>(r.memory->peak_bytes)) : std::nullopt;
}
Figure device_percent(const RunRecord& r) {
  return r.utilization ? Figure(r.utilization->device_percent_mean) : std::nullopt;
}
Figure epochs_to_target(const RunRecord& r) {
  return r.target ? r.target->epochs : std::nullopt;
}
Figure seconds_to_target(const RunRecord& r) {
  return r.target ? r.target->seconds : std::nullopt;
}

constexpr Better kLower = Better::lower, kHigher = Better::higher, kNeither = Better::neither;

constexpr std::array kFigures = std::to_array<RunFigure>({
    {"step_seconds", "s", kLower, "median step", step_seconds},
    {"samples_per_second", "1/s", kHigher, "training samples of all workers per second", samples_per_second},
    {"flops_per_second", "1/s", kHigher, "arithmetic of all workers", flops_per_second},
    {"epoch_seconds", "s", kLower, "median epoch", epoch_seconds},
    {"launch_seconds", "s", kLower, "from the command to the last rank's start", launch_seconds},
    {"load_seconds", "s", kLower, "reading data and building the model", load_seconds},
    {"train_seconds", "s", kLower, "training", train_seconds},
    {"validate_seconds", "s", kLower, "validation", validate_seconds},
    {"total_seconds", "s", kLower, "the whole job", total_seconds},
    {"train_loss", "", kLower, "training loss of the last epoch", train_loss},
    {"train_accuracy", "", kHigher, "training accuracy of the last epoch", train_accuracy},
    {"val_loss", "", kLower, "validation loss of the last epoch", val_loss},
    {"val_accuracy", "", kHigher, "validation accuracy of the last epoch", val_accuracy},
    {"val_psnr", "dB", kHigher, "validation PSNR of the last epoch", val_psnr},
    {"data_seconds", "s", kLower, "waiting for data, a step", data_seconds},
    {"forward_seconds", "s", kLower, "forward, a step", forward_seconds},
    {"backward_seconds", "s", kLower, "backward, a step", backward_seconds},
    {"optimizer_seconds", "s", kLower, "optimiser, a step", optimizer_seconds},
    {"compute_seconds", "s", kLower, "forward, backward and optimiser, a step", compute_seconds},
    {"busy_seconds", "s", kLower, "communication in flight, a step", busy_seconds},
    {"exposed_seconds", "s", kLower, "exposed communication, a step", exposed_seconds},
    {"peer_wait_seconds", "s", kLower, "waiting for the last rank, a step", peer_wait_seconds},
    {"hidden_fraction", "", kHigher, "share of communication that was hidden", hidden_fraction},
    {"algorithm_bandwidth", "B/s", kHigher, "payload over time, of the gradient", algorithm_bandwidth},
    {"bus_bandwidth", "B/s", kHigher, "what the link carried for it", bus_bandwidth},
    {"payload_bytes", "B", kNeither, "payload of the run, all purposes", payload_bytes},
    {"gradient_payload_bytes", "B", kNeither, "payload of gradients", gradient_payload_bytes},
    {"input_payload_bytes", "B", kNeither, "payload of input", input_payload_bytes},
    {"metric_payload_bytes", "B", kNeither, "payload of metrics", metric_payload_bytes},
    {"loss_payload_bytes", "B", kNeither, "payload of the loss of every step", loss_payload_bytes},
    {"wire_bytes", "B", kLower, "what all ranks sent", wire_bytes},
    {"messages", "", kNeither, "messages of all ranks", messages},
    {"peak_bytes", "B", kLower, "peak memory of the worst rank", peak_bytes},
    {"device_percent", "%", kNeither, "mean utilisation of the device", device_percent},
    {"epochs_to_target", "", kLower, "epochs until the target", epochs_to_target},
    {"seconds_to_target", "s", kLower, "seconds until the target", seconds_to_target},
});

}  // namespace

std::span<const RunFigure> run_figures() {
  return kFigures;
}

std::vector<std::string> run_figure_names() {
  std::vector<std::string> names;
  for (const RunFigure& figure : kFigures) names.emplace_back(figure.name);
  return names;
}

const RunFigure* find_run_figure(std::string_view name) {
  for (const RunFigure& figure : kFigures)
    if (figure.name == name) return &figure;
  return nullptr;
}

}  // namespace lockstep::lab
