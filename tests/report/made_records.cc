#include "tests/report/made_records.h"

#include <fmt/format.h>

#include <cmath>

#include "lockstep/lab/study_cells.h"
#include "lockstep/lab/study_parse.h"

namespace lockstep::report {
namespace {

using record::RunRecord;

constexpr double kParameterBytes = 246824;
constexpr std::int64_t kEpochSamples = 4096;

record::SplitSeconds split_of(const MadeRun& run, double factor) {
  record::SplitSeconds split;
  split.data = run.data;
  split.input = 0.00001;
  split.forward = run.forward * factor;
  split.backward = run.backward * factor;
  split.exposed_comm = run.workers > 1 ? run.exposed : 0;
  split.optimizer = run.optimizer;
  split.other = 0.00002;
  return split;
}

double sum_of(const record::SplitSeconds& split) {
  return *split.data + *split.input + *split.forward + *split.backward + *split.exposed_comm +
         *split.optimizer + *split.other;
}

std::int64_t steps_per_epoch(const MadeRun& run) {
  const std::int64_t global = run.batch * run.workers;
  return (kEpochSamples + global - 1) / global;
}

void add_steps(RunRecord& record, const MadeRun& run) {
  const record::SplitSeconds split = split_of(run, 1);
  const double step = sum_of(split) / run.speed_factor;
  record.steps.count = steps_per_epoch(run) * static_cast<std::int64_t>(run.losses.size());
  record.steps.warmup = 5;
  record.steps.seconds =
      record::TimeStatistics{step, step, step * 0.95, step * 1.05, {step * 0.99, step * 1.01}};
  record.steps.samples = {step, step * 1.01, step * 0.99};
  record.steps.split_seconds = split;
  record.steps.samples_per_second = static_cast<double>(run.batch * run.workers) / step;
}

void add_comm(RunRecord& record, const MadeRun& run) {
  if (run.workers < 2) return;
  record.comm.busy_seconds = std::max(run.busy, run.exposed);
  record.comm.exposed_seconds = run.exposed;
  record.comm.peer_wait_seconds = run.peer_wait;
  record.comm.hidden_fraction = 1 - run.exposed / *record.comm.busy_seconds;
  record.comm.algorithm_bandwidth = kParameterBytes / *record.comm.busy_seconds;
  record.comm.bus_bandwidth = *record.comm.algorithm_bandwidth * 2 * (run.workers - 1) / run.workers;
}

void add_epochs(RunRecord& record, const MadeRun& run) {
  for (std::size_t i = 0; i < run.losses.size(); ++i) {
    record::EpochFigures epoch;
    epoch.epoch = static_cast<std::int64_t>(i) + 1;
    epoch.seconds = record.steps.seconds->mean * static_cast<double>(steps_per_epoch(run));
    epoch.train_loss = run.losses[i];
    epoch.val_loss = run.val_losses.empty() ? run.losses[i] * 1.1 : run.val_losses[i];
    epoch.val_accuracy = std::isfinite(run.losses[i]) ? 1 / (1 + run.losses[i]) : 0.1;
    epoch.learning_rate = 0.1;
    for (int rank = 0; rank < run.workers; ++rank) {
      record::EpochRankFigures own;
      own.rank = rank;
      own.train_loss = run.losses[i] * (1 + 0.01 * rank);
      if (run.own_loss_factor > 0)
        own.before_averaging = record::QualityFigures{*epoch.val_loss * (run.own_loss_factor + 0.1 * rank),
                                                      std::nullopt, std::nullopt};
      epoch.per_rank.push_back(own);
    }
    if (run.own_loss_factor > 0)
      epoch.before_averaging = record::QualityFigures{
          *epoch.val_loss * (run.own_loss_factor + 0.05 * (run.workers - 1)), std::nullopt, std::nullopt};
    record.epochs.push_back(epoch);
  }
}

void add_ranks(RunRecord& record, const MadeRun& run) {
  for (int rank = 0; rank < run.workers; ++rank) {
    record::RankFigures figures;
    figures.rank = rank;
    figures.split_seconds = split_of(run, rank == run.slow_rank ? 2 : 1);
    figures.peer_wait_seconds = rank == run.slow_rank ? run.slow_rank_wait : run.peer_wait;
    record.per_rank.push_back(figures);
  }
}

record::LedgerLine line(int rank, const std::string& purpose, const std::string& collective, double payload,
                        double wire) {
  record::LedgerLine made;
  made.rank = rank;
  made.purpose = purpose;
  made.collective = collective;
  made.link = "shm";
  if (rank == 0) made.payload_bytes = static_cast<std::uint64_t>(payload);
  made.wire_bytes = static_cast<std::uint64_t>(wire);
  made.messages = 10;
  made.busy_seconds = 0.01;
  return made;
}

void add_ledger(RunRecord& record, const MadeRun& run) {
  const double gradient = kParameterBytes * static_cast<double>(record.steps.count);
  const double share = 2.0 * (run.workers - 1) / run.workers;
  for (int rank = 0; rank < run.workers && run.workers > 1; ++rank) {
    record.ledger.push_back(line(rank, "gradient", "all_reduce", gradient, gradient * share));
    record.ledger.push_back(
        line(rank, "metric", "all_reduce", 4.0 * static_cast<double>(record.steps.count), 8));
  }
  record.ledger.push_back(line(0, "input", "send", 3136.0 * static_cast<double>(run.batch), 0));
}

void add_extras(RunRecord& record) {
  if (record.workers > 1) {
    record.comm.link_peak = 2e9;
    record.comm.utilization = *record.comm.bus_bandwidth / 2e9;
  }
  record::MemoryFigures memory;
  memory.by_use = {{"parameters", 1000000},
                   {"buckets", 1000000},
                   {"optimizer", 1000000},
                   {"activations", static_cast<std::uint64_t>(record.batch.per_worker) * 50000}};
  for (const auto& [use, bytes] : memory.by_use) memory.peak_bytes += bytes;
  memory.cap_bytes = 64U << 20U;
  record.memory = memory;
  record.utilization = record::UtilizationFigures{80, {70, 85, 82, 83, 80, 79}};
  record.target = record::TargetFigures{"train_loss", 0.6, 2.0, 1.5};
  record.wall_seconds = {1.5, 0.8, 12.5, 0.7, 15.5};
}

}  // namespace

RunRecord made_run(const MadeRun& run) {
  RunRecord record;
  record.id =
      fmt::format("{}-{}-{}-{}-{}-{}", run.host, run.model, run.strategy, run.workers, run.batch, run.repeat);
  record.started_at = "2026-01-02T03:04:05Z";
  record.version = "0.1.0";
  record.engine = "lockstep";
  record.spec = {
      {"model", run.model},     {"data", "fashion-mnist"},    {"strategy", run.strategy},
      {"backend", run.backend}, {"recompute", run.recompute}, {"device", "cpu"},
      {"workers", run.workers}, {"batch_size", run.batch},    {"threads", 1},
      {"seed", run.repeat},     {"warmup_epochs", 0.0},       {"learning_rate_scaling", run.scaling}};
  record.machine = {{"host", run.host}, {"cpu", "Test CPU"}, {"cores", run.cores}, {"memory_bytes", 1 << 30}};
  record.status = "finished";
  record.repeat = run.repeat;
  record.workers = run.workers;
  record.batch = {run.batch, run.batch * run.workers};
  add_steps(record, run);
  add_comm(record, run);
  add_epochs(record, run);
  add_ranks(record, run);
  add_ledger(record, run);
  return record;
}

RunRecord out_of_memory_run(const MadeRun& run) {
  RunRecord record = made_run(run);
  record.status = "out_of_memory";
  record.epochs.clear();
  record.steps = {};
  record.ledger.clear();
  record.failure = record::FailureFigures{
      0, "out_of_memory",
      "out of memory: 24.5 MiB more for activations do not fit into this worker's 256 MiB; 248 MiB are in "
      "use. "
      "Use a smaller batch. A step needs about 274 MiB, and the cap is 256 MiB. The cheapest cures: none."};
  record.spec["device_memory"] = 256 << 20;
  return record;
}

RunRecord with_wall(RunRecord record, std::optional<double> launch, double load, double train,
                    double validate, double total) {
  record.wall_seconds = {launch, load, train, validate, total};
  return record;
}

std::vector<RunRecord> repeated(const MadeRun& run, double noise) {
  std::vector<RunRecord> records;
  for (int repeat = 1; repeat <= 3; ++repeat) {
    MadeRun one = run;
    one.repeat = repeat;
    one.speed_factor = run.speed_factor * (1 + noise * (repeat - 2));
    records.push_back(made_run(one));
  }
  return records;
}

void add(std::vector<RunRecord>& records, std::vector<RunRecord> more) {
  records.insert(records.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<RunRecord> rich_records(bool two_machines) {
  std::vector<RunRecord> records;
  for (const char* host : {"alpha", "beta"})
    for (const char* strategy : {"ddp", "horovod"})
      for (const std::int64_t batch : {32, 128, 512})
        for (const int workers : {1, 2, 4, 8}) {
          if (host == std::string("beta") && !two_machines) continue;
          if (two_machines && (workers > 2 || batch > 128)) continue;
          MadeRun run;
          run.host = host;
          run.strategy = strategy;
          run.workers = workers;
          run.batch = batch;
          const double work = static_cast<double>(batch) / 32;
          run.forward = 0.008 + 0.002 * work;
          run.backward = 0.012 + 0.005 * work;
          run.exposed = strategy == std::string("ddp") ? 0.001 * workers : 0.004 * workers;
          run.busy = 0.006 * workers;
          run.peer_wait = 0.0005 * workers;
          run.losses = {0.9 * workers, 0.5 * std::sqrt(workers), 0.3};
          run.own_loss_factor = 1.5;
          for (RunRecord& record : repeated(run, 0.01)) {
            add_extras(record);
            records.push_back(std::move(record));
          }
        }
  return records;
}

lab::Study published_study() {
  return lab::parse_study(R"(
name: made-scaling
title: Batch size and workers
question:
  - Are more workers faster, and why not?
  - Which bytes are moved?
notes: Made by hand.
base: {model: lenet5, data: fashion-mnist, strategy: ddp}
axes:
  batch_size: [32, 512]
  workers: [1, 2, 4]
tables: [summary, scaling, published, split]
charts: [speedup, split]
published:
  - name: epoch
    source: a lab report
    definition: seconds of an epoch, wall clock
    unit: s
    figure: epoch_seconds
    values:
      - {at: {batch_size: 512, workers: 2}, value: 15.664}
      - {at: {batch_size: 512, workers: 4}, value: 15.127}
claims:
  - text: 4 GPUs are slower than 2 at batch 512.
    source: the lab report's text
    column: epoch
    lower: {batch_size: 512, workers: 2}
    higher: {batch_size: 512, workers: 4}
)",
                          "made-scaling.yaml");
}

std::vector<RunRecord> published_records() {
  std::vector<RunRecord> records;
  for (const lab::Cell& cell : lab::cells_of(published_study())) {
    MadeRun run;
    run.workers = static_cast<int>(cell.spec.workers);
    run.batch = *cell.spec.batch_size;
    for (RunRecord& record : repeated(run, 0.01)) {
      record.study = "made-scaling";
      record.cell = cell.name;
      records.push_back(std::move(record));
    }
  }
  return records;
}

Report report_of(std::vector<RunRecord> records, const lab::Study* study, std::vector<std::string> only) {
  return build_report({study, {}, std::move(records)}, {std::move(only)});
}

std::vector<std::string> findings(const Report& report) {
  std::vector<std::string> found;
  for (const Paragraph& paragraph : report.words)
    for (const Sentence& sentence : paragraph.sentences) found.push_back(sentence.finding);
  return found;
}

Report one_against_four(const MadeRun& four, double noise) {
  std::vector<record::RunRecord> records = repeated({}, noise);
  MadeRun many = four;
  many.workers = 4;
  add(records, repeated(many, noise));
  return report_of(std::move(records));
}

MadeRun waiting_ranks() {
  MadeRun four;
  four.exposed = 0.031;
  four.peer_wait = 0.030;
  four.busy = 0.035;
  return four;
}

const Sentence* sentence_of(const Report& report, const std::string& finding) {
  for (const Paragraph& paragraph : report.words)
    for (const Sentence& sentence : paragraph.sentences)
      if (sentence.finding == finding) return &sentence;
  return nullptr;
}

std::string text_of_finding(const Report& report, const std::string& finding) {
  const Sentence* sentence = sentence_of(report, finding);
  return sentence == nullptr ? "" : sentence->text;
}

}  // namespace lockstep::report
