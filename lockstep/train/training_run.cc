#include "lockstep/train/training_run.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/measure/bandwidth.h"
#include "lockstep/models/weights.h"
#include "lockstep/parallel/statistics_channel.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_resolve.h"
#include "lockstep/train/run_trace.h"
#include "lockstep/train/started.h"

namespace lockstep::train {
namespace {

using data::Split;

std::unique_ptr<measure::StepTimer> make_timer(const record::RunSpec& spec, parallel::ComputeQueue& compute,
                                               measure::SpanListener* listener) {
  return spec.measure ? compute.step_timer(listener) : measure::bare_step_timer();
}

measure::UtilisationOptions utilisation_options() {
  measure::UtilisationOptions options;
  options.cores = at::get_num_threads();
  return options;
}

std::unique_ptr<data::Loader> make_loader(const RunPlace& place, Split split,
                                          const std::shared_ptr<const data::SampleSet>& set, int rank) {
  const record::RunSpec& spec = place.spec;
  data::LoaderOptions options = data::loader_options(spec, split);
  if (split == Split::train) options.delay = place.disturbances.loader;
  return std::make_unique<data::Loader>(set, data::transform_options(spec, split),
                                        data::sampler_options(spec, split, set->size(), rank), options);
}

// What a loader holds of one set: batches prepared ahead, and the one that is trained with. A CPU worker
// computes on that memory; beside a GPU it is not the device's.
std::uint64_t loader_bytes(const record::RunSpec& spec, const data::SampleSet& set,
                           const Placement& placement) {
  if (!placement.device.is_cpu()) return 0;
  const record::ImageShape input = record::input_shape(spec);
  const auto batches = static_cast<std::uint64_t>(spec.loader_threads == 0 ? 1 : spec.prefetch + 1);
  const auto sample = static_cast<std::uint64_t>(input.channels) * static_cast<std::uint64_t>(input.height) *
                      static_cast<std::uint64_t>(input.width) * sizeof(float);
  const std::uint64_t images = set.task == record::Task::restoration ? 2 : 1;  // noisy and clean
  return batches * static_cast<std::uint64_t>(record::batch_sizes(spec).per_worker) * sample * images;
}

AgreementOptions agreement_options(const record::RunSpec& spec, double trained_seconds) {
  AgreementOptions options;
  options.watch_signals = true;
  if (spec.max_time)
    options.stop_after = base::from_seconds(std::max(0.0, spec.max_time->count - trained_seconds));
  if (spec.checkpoint_time) options.checkpoint_every = base::from_seconds(spec.checkpoint_time->count);
  return options;
}

record::LedgerLine line_of(const measure::LedgerRow& row, int rank) {
  // A collective's payload is counted once, by rank 0; what one rank does alone, by that rank.
  const bool alone =
      row.collective == measure::Collective::send || row.collective == measure::Collective::receive;
  record::LedgerLine line;
  line.rank = rank;
  line.purpose = name_of(row.purpose);
  line.collective = name_of(row.collective);
  line.link = row.link;
  if (rank == 0 || alone) line.payload_bytes = row.payload_bytes;
  line.wire_bytes = row.wire_bytes;
  line.messages = row.messages;
  line.busy_seconds = base::to_seconds(row.busy);
  if (row.estimated) line.estimated = true;
  return line;
}

}  // namespace

TrainingRun::TrainingRun(const RunPlace& place, comm::Session& session, EventLog& events,
                         measure::MemoryAccount& memory)
    : place_(place),
      spec_(place.spec),
      session_(session),
      events_(events),
      memory_(memory),
      began_(base::now()),
      placement_(placement_of(spec_, session.group().local_rank)),
      trace_(spec_.trace ? make_trace_recorder(place.clock, session.group()) : nullptr),
      compute_(parallel::compute_queue(placement_.device)),
      timer_(make_timer(spec_, *compute_, trace_.get())),
      utilisation_(utilisation_options()) {
  if (trace_ != nullptr) session_.ledger().listen(*trace_);
}

TrainingRun::~TrainingRun() = default;

Ending TrainingRun::run() {
  load_data();
  open_communicator();
  build();
  announce();
  load_seconds_ = base::to_seconds(base::now() - began_);
  return train();
}

void TrainingRun::load_data() {
  train_set_ = data::load_set(data::load_request(spec_, Split::train));
  if (spec_.validate_every > 0)
    validation_set_ = data::load_set(data::load_request(spec_, Split::validation));
}

void TrainingRun::open_communicator() {
  const bool sends = spec_.strategy != "single" && spec_.strategy != "dp";
  if (session_.group().world == 1 && !sends) return;
  comm::OpenOptions options;
  options.timeout = base::from_seconds(spec_.timeout.count);
  options.channel = "train";
  options.disturb = [this](std::unique_ptr<comm::Communicator> opened) {
    return slow_down(std::move(opened), place_.disturbances);
  };
  communicator_ = compute_->ordered(session_.open(spec_.backend, options));
  agreement_channel_ = open_agreement_channel(options);
}

// Two NCCL communicators that work at the same time may block each other: wishes then take the host's way.
std::unique_ptr<comm::Communicator> TrainingRun::open_agreement_channel(comm::OpenOptions options) {
  if (spec_.backend != "nccl") return communicator_->duplicate();
  const comm::Group& group = session_.group();
  options.channel = "agreement";
  return session_.open(group.local_world == group.world ? "shm" : "gloo", options);
}

void TrainingRun::build() {
  const models::LayerOptions options = layer_options(spec_, placement_);
  if (communicator_ != nullptr && spec_.buffers == "sync") {
    statistics_ = std::make_unique<parallel::StatisticsChannel>(*communicator_, *timer_);
    layers_ = std::make_unique<models::SyncLayers>(options, *statistics_);
  } else {
    layers_ = models::standard_layers(options);
  }
  {
    const measure::UseScope use(measure::Use::parameters);
    network_ = build_network(spec_, train_set_->classes, *layers_);
  }
  sleeper_ = slow_down(network_->model, place_.disturbances);
  withholder_ = withhold(network_->model, place_.disturbances);
  for (const std::string& remark : network_->remarks) events_.write(record::WarningEvent{remark});
  strategy_ =
      parallel::make_strategy({spec_, network_->model, network_->loss, communicator_.get(), *compute_,
                               *timer_, memory_, [this](const std::string& message) { warn(message); }});
  optimizer_ = make_optimizer(spec_);
  strategy_->begin();
}

// Whoever waits for the run's end is not to wait for the warning.
void TrainingRun::warn(const std::string& message) {
  base::log_info("warning: " + message);
  events_.write(record::WarningEvent{message});
}

void TrainingRun::announce() {
  events_.write(started_event(spec_, train_set_->classes, placement_));
  events_.flush();
}

Ending TrainingRun::train() {
  const int rank = session_.group().rank;
  const std::unique_ptr<data::Loader> train_data = make_loader(place_, Split::train, train_set_, rank);
  const std::unique_ptr<data::Loader> validation_data =
      validation_set_ ? make_loader(place_, Split::validation, validation_set_, rank) : nullptr;
  const auto steps_per_epoch = train_data->steps_per_epoch();
  const auto total = StopRule(spec_).total_steps(static_cast<std::int64_t>(steps_per_epoch));
  const Schedule schedule(spec_, steps_per_epoch, static_cast<std::uint64_t>(total.value_or(0)));
  const measure::Reservation batches(memory_, measure::Use::other,
                                     loader_bytes(spec_, *train_set_, placement_));
  Inputs inputs(placement_, session_.ledger());
  Checkpointer checkpointer({spec_, network_->model, *strategy_, *optimizer_},
                            place_.directory / "checkpoints", session_.group(), session_.store(), events_);
  const Progress from = checkpointer.restore().value_or(Progress{});
  Agreement agreement(std::move(agreement_channel_), agreement_options(spec_, from.train_seconds));
  Trainer trainer({spec_, network_->model, network_->loss, *strategy_, *optimizer_, schedule, *train_data,
                   validation_data.get(), inputs, communicator_.get(), *compute_, *timer_, session_.ledger(),
                   events_, checkpointer, agreement, place_.disturbances},
                  from);
  utilisation_.start();
  const Ending ending = trainer.run();
  utilisation_.stop();
  conclude(trainer, ending);
  return ending;
}

void TrainingRun::conclude(const Trainer& trainer, Ending ending) {
  warn_about_other(trainer);
  strategy_->settle();
  report_utilisation();
  report_ledger();
  report_memory();
  if (trace_ != nullptr)
    write_run_trace(*trace_, {*spec_.trace, place_.directory}, session_.group(), communicator_.get(),
                    events_);
  if (ending == Ending::interrupted) {
    events_.write(record::FailedEvent{
        "interrupted",
        fmt::format("interrupted after step {}; a checkpoint is in {}. Go on with --resume.",
                    trainer.progress().steps_done, (place_.directory / "checkpoints").string())});
    events_.flush();
    return;
  }
  export_weights();
  record::FinishedEvent finished;
  finished.wall_seconds.load = load_seconds_;
  finished.wall_seconds.train = trainer.progress().train_seconds;
  finished.wall_seconds.validate = trainer.progress().validate_seconds;
  finished.target = trainer.target();
  events_.write(finished);
  events_.flush();
}

// The design's bound on what no span explains; small models have less to divide it by.
void TrainingRun::warn_about_other(const Trainer& trainer) {
  const double bound = spec_.model == "lenet5" || spec_.model == "vit" ? 0.05 : 0.02;
  const std::optional<double> share = trainer.share_of_other();
  if (!share || *share <= bound) return;
  events_.write(record::WarningEvent{fmt::format(
      "{:.1f} % of the step is in no span (at most {:.0f} % should be)", *share * 100, bound * 100)});
}

void TrainingRun::report_utilisation() {
  for (const measure::UtilisationSample& sample : utilisation_.samples())
    events_.write(record::UtilisationEvent{sample.percent});
}

void TrainingRun::report_ledger() {
  record::LedgerEvent event;
  const std::vector<measure::LedgerRow> rows = session_.ledger().rows();
  for (const measure::LedgerRow& row : rows) event.rows.push_back(line_of(row, session_.group().rank));
  const auto bandwidth =
      measure::collective_bandwidth(rows, measure::Purpose::gradient, session_.group().world);
  if (bandwidth) {
    event.algorithm_bandwidth = bandwidth->algorithm;
    event.bus_bandwidth = bandwidth->bus;
  }
  event.control = strategy_->control();
  events_.write(event);
}

void TrainingRun::report_memory() {
  if (placement_.device.is_cuda()) return;  // the account counts memory of the host
  record::MemoryEvent event;
  event.peak_bytes = memory_.peak_bytes();
  const measure::BytesByUse by_use = memory_.by_use_at_peak();
  for (int use = 0; use < measure::kUseCount; ++use)
    event.by_use[std::string(name_of(static_cast<measure::Use>(use)))] =
        by_use[static_cast<std::size_t>(use)];
  event.cap_bytes = memory_.cap_bytes();
  events_.write(event);
}

void TrainingRun::export_weights() {
  if (!spec_.export_weights || session_.group().rank != 0) return;
  models::save_safetensors(*spec_.export_weights, network_->model.state(), {{"model", spec_.model}});
}

}  // namespace lockstep::train
