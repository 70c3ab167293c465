#include "lockstep/train/training_run.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <new>
#include <stdexcept>

#include "lockstep/base/counted.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/comm/operation.h"
#include "lockstep/measure/torch/device_blocks.h"
#include "lockstep/models/weights.h"
#include "lockstep/parallel/statistics_channel.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_resolve.h"
#include "lockstep/record/catalogue_rules.h"
#include "lockstep/train/gpu.h"
#include "lockstep/train/replicas.h"
#include "lockstep/train/started.h"
#include "lockstep/train/totals.h"

namespace lockstep::train {
namespace {

using data::Split;

std::unique_ptr<measure::StepTimer> make_timer(const record::RunSpec& spec, parallel::ComputeQueue& compute,
                                               measure::SpanListener* listener, std::int64_t turn) {
  if (!spec.measure) return measure::bare_step_timer();
  std::unique_ptr<measure::StepTimer> full = compute.step_timer(listener);
  return turn > 0 ? measure::turns_step_timer(std::move(full), turn) : std::move(full);
}

measure::UtilisationOptions utilisation_options(const record::RunSpec& spec,
                                                parallel::ComputeQueue& compute) {
  measure::UtilisationOptions options;
  options.read_device = compute.sensors();
  options.cores = at::get_num_threads() * static_cast<int>(spec.workers) / record::processes_of(spec);
  return options;
}

bool is_want_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::length_error*>(&error) != nullptr;
}

// Sets are kept decoded: what is too large is too many samples, whatever the batch.
std::shared_ptr<const data::SampleSet> load_split(const record::RunSpec& spec, Split split) {
  try {
    return data::load_set(data::load_request(spec, split));
  } catch (const std::exception& error) {
    if (!is_want_of_memory(error)) throw;
    throw base::DataError(fmt::format(
        "the samples of data '{}' do not fit into this machine's memory. Next step: fewer --train-samples or "
        "--val-samples, or a smaller --image-size.",
        spec.data));
  }
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
  const record::BatchSizes batch = record::batch_sizes(spec);
  const auto samples = static_cast<std::int64_t>(set.size());
  const std::int64_t rows = spec.strategy == "dp" ? std::min(batch.global, samples)
                                                  : std::min(batch.per_worker, samples / spec.workers + 1);
  return batches * static_cast<std::uint64_t>(rows) * sample * images;
}

AgreementOptions agreement_options(const record::RunSpec& spec, double trained_seconds) {
  AgreementOptions options;
  if (spec.max_time)
    options.stop_after = base::from_seconds(std::max(0.0, spec.max_time->count - trained_seconds));
  if (spec.checkpoint_time) options.checkpoint_every = base::from_seconds(spec.checkpoint_time->count);
  return options;
}

}  // namespace

TrainingRun::TrainingRun(const RunPlace& place, comm::Session& session, EventLog& events,
                         const std::shared_ptr<measure::MemoryAccount>& memory)
    : place_(place),
      spec_(place.spec),
      session_(session),
      events_(events),
      memory_(*memory),
      began_(base::now()),
      placement_(placement_of(spec_, session.group().local_rank)),
      trace_(spec_.trace ? make_trace_recorder(place.clock, session.group()) : nullptr),
      compute_(parallel::compute_queue(placement_.device)),
      timer_(make_timer(spec_, *compute_, trace_.get(), place_.disturbances.measure_turn)),
      utilisation_(utilisation_options(spec_, *compute_)),
      memory_is_counted_(counts_memory(memory)) {
  compute_->use_here();
  if (trace_ != nullptr) session_.ledger().listen(*trace_);
  // A slice's limit is the service's, which counts what CUDA itself takes too.
  if (spec_.device_memory && !spec_.slice_share) compute_->limit_memory(spec_.device_memory->count);
  if (spec_.strategy == "dp")
    replicas_ = std::make_unique<Replicas>(ReplicasOptions{spec_, place_.directory, place_.clock, session_,
                                                           *compute_, *timer_, place_.disturbances});
}

TrainingRun::~TrainingRun() = default;

Ending TrainingRun::run() {
  prepare();
  return train();
}

void TrainingRun::prepare() {
  const measure::DeviceWatch watch;
  require_right_products(placement_.device, placement_.type);
  load_data();
  open_communicator();
  build();
  announce();
  load_seconds_ = base::to_seconds(base::now() - began_);
}

void TrainingRun::load_data() {
  train_set_ = load_split(spec_, Split::train);
  if (spec_.validate_every > 0) validation_set_ = load_split(spec_, Split::validation);
  const std::int64_t batch = record::batch_sizes(spec_).global;
  if (batch > static_cast<std::int64_t>(train_set_->size()) && session_.group().rank == 0)
    warn(fmt::format(
        "the global batch of {} is larger than the training set: every step trains on all {} samples", batch,
        train_set_->size()));
}

// This thread alone feeds the communicator, in backward too.
void TrainingRun::open_communicator() {
  if (spec_.strategy == "single" || spec_.backend == "local") return;
  compute_->keep_backward_here();
  communicator_ = compute_->ordered(session_.open(spec_.backend, open_options("train")));
  communicator_memory_ =
      measure::Reservation(memory_, measure::Use::communication, communicator_->device_bytes());
  agreement_channel_ = open_host_channel("agreement");
}

comm::OpenOptions TrainingRun::open_options(const std::string& channel) {
  comm::OpenOptions options;
  options.timeout = base::from_seconds(spec_.timeout.count);
  options.channel = channel;
  options.wrap = [this](std::unique_ptr<comm::Communicator> opened) {
    opened = slow_down(std::move(opened), place_.disturbances);
    return record::moves_device_memory(spec_.backend) ? std::move(opened)
                                                      : compute_->staged(std::move(opened));
  };
  return options;
}

// Two communicators on one device that work at the same time may block each other: what is said beside
// training then takes the host's way.
std::unique_ptr<comm::Communicator> TrainingRun::open_host_channel(const std::string& name) {
  if (!record::moves_device_memory(spec_.backend)) return communicator_->duplicate();
  const comm::Group& group = session_.group();
  return session_.open(group.local_world == group.world ? "shm" : "gloo", open_options(name));
}

// Over a channel that is opened when it is first needed, and closed with the last copy of the result, which
// the trainer keeps: a slower worker may still be reading the answer.
std::function<bool(bool)> TrainingRun::all_agree() {
  if (communicator_ == nullptr) return [](bool yes) { return yes; };
  return [this, channel = std::make_shared<std::unique_ptr<comm::Communicator>>()](bool yes) {
    if (*channel == nullptr) *channel = open_host_channel("recording");
    std::int64_t fewest = yes ? 1 : 0;
    (*channel)->run(comm::all_reduce(comm::host_buffer(&fewest, 1, comm::ElementType::i64),
                                     comm::ReduceOp::min, comm::Purpose::control));
    return fewest == 1;
  };
}

Network TrainingRun::make_network(const Placement& placement, models::StatisticsExchange* statistics) const {
  const measure::UseScope use(measure::Use::parameters);
  const models::LayerOptions options = layer_options(placement);
  const std::unique_ptr<models::LayerFactory> layers =
      statistics != nullptr      ? std::make_unique<models::SyncLayers>(options, *statistics)
      : options.device.is_cuda() ? device_layers(options)
                                 : models::standard_layers(options);
  return build_network(spec_, train_set_->classes, *layers);
}

models::StatisticsExchange* TrainingRun::open_statistics() {
  if (replicas_ != nullptr) return replicas_->statistics(0);
  if (communicator_ == nullptr || spec_.buffers != "sync") return nullptr;
  const bool shares = record::moves_device_memory(spec_.backend);
  if (!shares) statistics_channel_ = communicator_->duplicate();
  statistics_ =
      std::make_unique<parallel::StatisticsChannel>(shares ? *communicator_ : *statistics_channel_, *timer_);
  return statistics_.get();
}

const parallel::ReplicaSource* TrainingRun::replica_source() {
  if (replicas_ == nullptr) return nullptr;
  return &replicas_->source([this](const Placement& placement, models::StatisticsExchange* statistics) {
    return make_network(placement, statistics).model;
  });
}

void TrainingRun::build() {
  network_ = make_network(placement_, open_statistics());
  sleeper_ = slow_down(network_->model, place_.disturbances);
  withholder_ = withhold(network_->model, place_.disturbances);
  write_remarks();
  strategy_ = parallel::make_strategy(
      {spec_, network_->model, network_->loss, communicator_.get(), *compute_, *timer_, memory_,
       replica_source(), [this](const std::string& message) { warn(message); }, &session_.ledger(),
       [this](const std::string& name) { return open_host_channel(name); }});
  optimizer_ = make_optimizer(spec_);
  strategy_->begin();
}

void TrainingRun::write_remarks() {
  if (const auto remark = slice_remark(spec_); remark && session_.group().rank == 0) warn(*remark);
  for (const std::string& remark : network_->remarks) events_.write(record::WarningEvent{remark});
  if (replicas_ == nullptr) return;
  if (const auto remark = replicas_->remark()) events_.write(record::WarningEvent{*remark});
}

// Whoever waits for the run's end is not to wait for the warning.
void TrainingRun::warn(const std::string& message) {
  base::log_info("warning: " + message);
  events_.write(record::WarningEvent{message});
}

void TrainingRun::warn_if_nothing_is_left(const Progress& from) {
  const auto epochs = static_cast<std::int64_t>(from.next.epoch);
  const bool all_epochs = spec_.epochs && from.steps_done > 0 && epochs >= *spec_.epochs;
  const bool all_steps = spec_.steps && from.steps_done > 0 && from.steps_done >= *spec_.steps;
  if ((all_epochs || all_steps) && session_.group().rank == 0)
    warn(fmt::format(
        "nothing is left to train: the checkpoint has {} and {} already. Give more --epochs or --steps.",
        base::counted(from.steps_done, "step"), base::counted(epochs, "epoch")));
}

void TrainingRun::announce() {
  const record::StartedEvent started = started_event(spec_, train_set_->classes, placement_, compute_->gpu());
  if (replicas_ != nullptr) replicas_->announce(started);
  events_.write(started);
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
  Inputs inputs(placement_, session_.ledger(), memory_);
  Checkpointer checkpointer({spec_, network_->model, *strategy_, *optimizer_},
                            place_.directory / "checkpoints", session_.group(), session_.store(), events_);
  const Progress from = checkpointer.restore().value_or(Progress{});
  warn_if_nothing_is_left(from);
  Agreement agreement(std::move(agreement_channel_), session_.store(),
                      agreement_options(spec_, from.train_seconds));
  const Interruptions::Asked asked(place_.interruptions,
                                   [&](const Interrupter& why) { agreement.propose(Wish::interrupt, why); });
  Trainer trainer({spec_,
                   network_->model,
                   network_->loss,
                   *strategy_,
                   *optimizer_,
                   schedule,
                   *train_data,
                   validation_data.get(),
                   inputs,
                   communicator_.get(),
                   *compute_,
                   *timer_,
                   session_.ledger(),
                   events_,
                   checkpointer,
                   agreement,
                   place_.disturbances,
                   replicas_.get(),
                   [this] { report_so_far(); },
                   all_agree()},
                  from);
  utilisation_.start();
  const Ending ending = run_to_the_end(trainer);
  utilisation_.stop();
  conclude(trainer, from, ending);
  write_trace();
  return ending;
}

// Operations that are in flight when training fails use memory that is about to go.
Ending TrainingRun::run_to_the_end(Trainer& trainer) {
  try {
    return trainer.run();
  } catch (...) {
    stop_communicating();
    throw;
  }
}

void TrainingRun::stop_communicating() noexcept {
  if (communicator_ == nullptr) return;
  communicator_->abort("this rank has failed");
  try {
    communicator_->queue().drain();
  } catch (...) {  // that they failed is known
  }
}

// A checkpoint brings the time of earlier runs along; the record tells this run's.
void TrainingRun::conclude(const Trainer& trainer, const Progress& from, const Ending& ending) {
  warn_about_other(trainer);
  report_memory();  // whole tensors, which are needed from here on, are not what training took
  strategy_->settle();
  if (!ending.interrupter) export_weights();
  report_utilisation();
  report_totals();
  if (ending.interrupter) {
    record::FailedEvent interrupted{
        "interrupted",
        fmt::format("{} after step {}; a checkpoint is in {}. Go on: the same command with --resume {}",
                    describe(*ending.interrupter), trainer.progress().steps_done,
                    (place_.directory / "checkpoints").string(), place_.directory.string())};
    interrupted.signalled_rank = ending.interrupter->rank;
    return end(interrupted);
  }
  record::FinishedEvent finished;
  finished.wall_seconds.load = load_seconds_;
  finished.wall_seconds.train = trainer.progress().train_seconds - from.train_seconds;
  finished.wall_seconds.validate = trainer.progress().validate_seconds - from.validate_seconds;
  finished.target = trainer.target();
  end(finished);
}

void TrainingRun::end(const record::EventBody& last) {
  if (replicas_ != nullptr) replicas_->end(last);
  events_.write(last);
  events_.flush();
}

// The group of those that report: replicas are ranks there.
comm::Group TrainingRun::reporting_group() const {
  comm::Group group = session_.group();
  if (replicas_ != nullptr) group.world = replicas_->count();
  return group;
}

std::optional<TracePlace> TrainingRun::trace_place() const {
  if (trace_ == nullptr) return std::nullopt;
  return TracePlace{*spec_.trace, place_.directory};
}

// A device may still have operations to end that the ledger is to have.
void TrainingRun::report_totals() {
  if (communicator_ != nullptr) communicator_->queue().drain();
  if (replicas_ != nullptr) replicas_->report_totals(trace_place());
  events_.write(own_ledger());
}

// Last: what was trained, and its figures, are worth more than the trace.
void TrainingRun::write_trace() {
  if (const auto place = trace_place())
    write_run_trace(*trace_, *place, reporting_group(), communicator_.get(), events_);
  events_.flush();
}

// Totals since the start, while training goes on: the last ones count.
void TrainingRun::report_so_far() {
  report_memory();
  if (replicas_ != nullptr) replicas_->report_totals(std::nullopt);
  events_.write(own_ledger());
}

record::LedgerEvent TrainingRun::own_ledger() const {
  const comm::Group group = reporting_group();
  record::LedgerEvent ledger = ledger_event(session_.ledger(), group.rank, group.world);
  ledger.control = strategy_->control();
  return ledger;
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
    events_.write(record::UtilisationEvent{sample.percent, sample.watts, sample.megahertz});
}

// A CPU worker's cap needs the account, measured or not.
bool TrainingRun::counts_memory(const std::shared_ptr<measure::MemoryAccount>& memory) const {
  return placement_.device.is_cpu() || (spec_.measure && compute_->count_memory(memory));
}

void TrainingRun::report_memory() {
  if (!memory_is_counted_) return;
  if (replicas_ != nullptr) replicas_->report_memory();
  events_.write(memory_event(memory_));
}

void TrainingRun::export_weights() {
  if (!spec_.export_weights || session_.group().rank != 0) return;
  try {
    save_weights(*spec_.export_weights);
  } catch (const base::StoreError& trouble) {  // what was learnt must not be lost with the place for it
    const std::string kept = (place_.directory / "weights.safetensors").string();
    save_weights(kept);
    throw base::StoreError(
        fmt::format("{}. They are kept in '{}': move them from there", trouble.what(), kept));
  }
}

void TrainingRun::save_weights(const std::string& file) const {
  models::save_safetensors(file, network_->model.state(), {{"model", spec_.model}});
}

}  // namespace lockstep::train
