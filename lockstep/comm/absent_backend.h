// A backend that is not there: it is listed, and says why it is absent and what to do.
#pragma once

#include <string>

#include "lockstep/base/error.h"
#include "lockstep/comm/backend.h"

namespace lockstep::comm {

class AbsentBackend : public Backend {
 public:
  AbsentBackend(std::string name, std::string why, std::string next_step)
      : name_(std::move(name)), why_(std::move(why)), next_step_(std::move(next_step)) {}

  std::string_view name() const override { return name_; }
  Availability availability() const override { return {false, why_, next_step_}; }
  std::unique_ptr<Communicator> open(const Group&, Store&, const OpenOptions&) const override {
    throw base::DeviceError("backend " + name_ + " cannot be used here: " + why_ + ". " + next_step_);
  }

 private:
  std::string name_, why_, next_step_;
};

}  // namespace lockstep::comm
