#include "lockstep/train/checkpointer.h"

#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/log.h"
#include "lockstep/models/weights.h"
#include "lockstep/train/same_run.h"

namespace lockstep::train {
namespace {

constexpr std::string_view kModel = "model.";
constexpr std::string_view kOptimizer = "optimizer.";

void add_with_prefix(std::vector<models::NamedTensor>& all, std::string_view prefix,
                     const std::vector<models::NamedTensor>& some) {
  for (const models::NamedTensor& named : some)
    all.push_back({std::string(prefix) + named.name, named.tensor});
}

std::vector<models::NamedTensor> with_prefix(const std::vector<models::NamedTensor>& all,
                                             std::string_view prefix) {
  std::vector<models::NamedTensor> some;
  for (const models::NamedTensor& named : all) {
    if (named.name.starts_with(prefix)) some.push_back({named.name.substr(prefix.size()), named.tensor});
  }
  return some;
}

std::uint64_t bytes_of(const std::vector<CheckpointFile>& files) {
  std::uint64_t bytes = 0;
  for (const CheckpointFile& file : files) bytes += file.bytes;
  return bytes;
}

nlohmann::json to_json(const CheckpointFile& file) {
  return {{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}};
}

CheckpointFile file_from_text(const std::string& text) {
  const nlohmann::json told = base::parse_json(text);
  return {told.at("name"), told.at("bytes"), told.at("sha256")};
}

}  // namespace

Checkpointer::Checkpointer(const CheckpointedParts& parts, std::filesystem::path directory,
                           const comm::Group& group, comm::Store& store, EventLog& events)
    : parts_(parts), directory_(std::move(directory)), group_(group), store_(store), events_(events) {}

// Rank 0 gets every rank's text; the others get nothing.
std::vector<std::string> Checkpointer::gather_texts(const std::string& topic, std::int64_t step,
                                                    const std::string& mine) {
  const auto key = [&](int rank) { return fmt::format("checkpoint/{}/{}/{}", topic, step, rank); };
  store_.set(key(group_.rank), mine);
  std::vector<std::string> all;
  for (int rank = 0; group_.rank == 0 && rank < group_.world; ++rank)
    all.push_back(store_.get(key(rank), base::Deadline(base::from_seconds(parts_.spec.timeout.count))));
  return all;
}

void Checkpointer::save(const Progress& progress) {
  const base::TimePoint began = base::now();
  const auto step = static_cast<std::uint64_t>(progress.steps_done);
  parts_.strategy.settle();
  const auto progresses = gather_texts("progress", progress.steps_done, base::json_text(to_json(progress)));
  std::string written;
  if (writes_part())
    written =
        base::json_text(to_json(write_part(directory_, step, group_.rank, make_part(progress, progresses))));
  std::vector<CheckpointFile> files;
  for (const std::string& text : gather_texts("file", progress.steps_done, written)) {
    if (!text.empty()) files.push_back(file_from_text(text));
  }
  const std::string whole = fmt::format("checkpoint/whole/{}", progress.steps_done);
  if (group_.rank != 0) {
    // Else the others would wait for rank 0's disk inside their next step.
    store_.get(whole, base::Deadline(base::from_seconds(parts_.spec.timeout.count)));
    return;
  }
  write_manifest(directory_, step, files);
  store_.set(whole, "yes");
  events_.write(record::CheckpointEvent{(directory_ / fmt::format("step-{:08}", step)).string(),
                                        progress.steps_done, bytes_of(files),
                                        base::to_seconds(base::now() - began)});
}

CheckpointPart Checkpointer::make_part(const Progress& progress,
                                       const std::vector<std::string>& progresses) const {
  CheckpointPart part;
  part.facts["spec"] = lasting_fields(parts_.spec);
  part.facts["progress"] = train::to_json(progress);
  part.facts["strategy"] = parts_.strategy.state();
  for (const std::string& text : progresses) part.facts["progresses"].push_back(base::parse_json(text));
  if (writes_model()) add_with_prefix(part.tensors, kModel, parts_.model.state());
  add_with_prefix(part.tensors, kOptimizer, parts_.optimizer.state());
  return part;
}

std::optional<Progress> Checkpointer::restore() {
  if (!parts_.spec.resume) return std::nullopt;
  const FoundCheckpoint found = find_checkpoint(*parts_.spec.resume);
  for (const std::string& fault : found.refused) say_refused(fault);
  const CheckpointPart part = read_part(found.path, group_.rank);
  const CheckpointPart first = read_part(found.path, 0);
  put_back(part, first, found.path.string());
  return progress_from_json(first.facts.at("progresses").at(static_cast<std::size_t>(group_.rank)));
}

// Whoever waits for the run's end is to know at once where it goes on from.
void Checkpointer::say_refused(const std::string& fault) {
  const std::string warning = "a newer checkpoint was refused: " + fault;
  if (group_.rank == 0) base::log_info("warning: " + warning);
  events_.write(record::WarningEvent{warning});
}

// A rank that has only optimiser state of its own has rank 0's model.
void Checkpointer::put_back(const CheckpointPart& part, const CheckpointPart& first,
                            const std::string& origin) {
  const std::string other =
      differences(lasting_fields(parts_.spec), part.facts.at("spec"), "in the checkpoint");
  if (!other.empty())
    throw base::ConfigError(fmt::format(
        "{} is a checkpoint of another run: {}. Only limits (epochs, steps, time, targets) may differ, and "
        "with the cosine schedule not epochs and steps. Resume with the spec it was made with (`lockstep "
        "runs "
        "show ID --spec`).",
        origin, other));
  const std::vector<models::NamedTensor> own = with_prefix(part.tensors, kModel);
  parts_.strategy.settle();
  models::load_weights(parts_.model, own.empty() ? with_prefix(first.tensors, kModel) : own, origin);
  parts_.strategy.restore(part.facts.at("strategy"));
  parts_.optimizer.load_state(parts_.strategy.updatables(), with_prefix(part.tensors, kOptimizer));
}

}  // namespace lockstep::train
