#include "lockstep/train/progress.h"

#include "lockstep/base/error.h"

namespace lockstep::train {

nlohmann::json to_json(const Progress& progress) {
  return {{"steps_done", progress.steps_done},       {"epoch", progress.next.epoch},
          {"step_of_epoch", progress.next.step},     {"epoch_so_far", progress.epoch_so_far},
          {"train_seconds", progress.train_seconds}, {"validate_seconds", progress.validate_seconds},
          {"epoch_seconds", progress.epoch_seconds}};
}

Progress progress_from_json(const nlohmann::json& json) {
  try {
    Progress progress;
    json.at("steps_done").get_to(progress.steps_done);
    json.at("epoch").get_to(progress.next.epoch);
    json.at("step_of_epoch").get_to(progress.next.step);
    json.at("epoch_so_far").get_to(progress.epoch_so_far);
    json.at("train_seconds").get_to(progress.train_seconds);
    json.at("validate_seconds").get_to(progress.validate_seconds);
    json.at("epoch_seconds").get_to(progress.epoch_seconds);
    return progress;
  } catch (const nlohmann::json::exception& error) {
    throw base::DataError(std::string("the checkpoint does not say how far the run had come: ") +
                          error.what());
  }
}

}  // namespace lockstep::train
