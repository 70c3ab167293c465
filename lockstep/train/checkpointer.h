// Puts a run's state into checkpoints and back. One for each rank; all ranks call the same functions.
#pragma once

#include <filesystem>
#include <optional>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/rendezvous/store.h"
#include "lockstep/models/model.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/record/spec.h"
#include "lockstep/train/checkpoint.h"
#include "lockstep/train/event_log.h"
#include "lockstep/train/optimizer.h"
#include "lockstep/train/progress.h"

namespace lockstep::train {

struct CheckpointedParts {
  const record::RunSpec& spec;
  models::Model& model;
  parallel::Strategy& strategy;
  Optimizer& optimizer;
};

class Checkpointer {
 public:
  // `directory` holds this run's checkpoints.
  Checkpointer(const CheckpointedParts& parts, std::filesystem::path directory, const comm::Group& group,
               comm::Store& store, EventLog& events);

  // Collective. Returns when this rank's part is on disk (rank 0: when all are).
  void save(const Progress& progress);
  // What the spec's `resume` names is put into the parts; nothing when it names none. Throws DataError when
  // there is no whole checkpoint, or when it is of another run.
  std::optional<Progress> restore();

 private:
  bool writes_part() const { return writes_model() || parts_.strategy.updates_divided(); }
  bool writes_model() const { return group_.rank == 0 || parts_.strategy.replicas_differ(); }
  CheckpointPart make_part(const Progress& progress, const std::vector<std::string>& progresses) const;
  std::vector<std::string> gather_texts(const std::string& topic, std::int64_t step, const std::string& mine);
  void say_refused(const std::string& fault);
  void put_back(const CheckpointPart& part, const CheckpointPart& first, const std::string& origin);

  CheckpointedParts parts_;
  std::filesystem::path directory_;
  comm::Group group_;
  comm::Store& store_;
  EventLog& events_;
};

}  // namespace lockstep::train
