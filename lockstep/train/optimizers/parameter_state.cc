#include "lockstep/train/optimizers/parameter_state.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/measure/memory_account.h"

namespace lockstep::train {
namespace {

constexpr const char* kMaster = "master";

std::string full_name(const std::string& kind, const std::string& parameter) {
  return kind + "." + parameter;
}

ParameterState::Entry empty_entry(const parallel::Updatable& updatable, int kinds) {
  const at::Tensor value = updatable.value.detach();
  const bool rounded = value.scalar_type() == at::kBFloat16;
  ParameterState::Entry entry{updatable.name, rounded ? value.to(at::kFloat) : at::Tensor(), {}};
  for (int i = 0; i < kinds; ++i) entry.tensors.push_back(at::zeros_like(rounded ? entry.master : value));
  return entry;
}

}  // namespace

void ParameterState::make(std::span<const parallel::Updatable> updatables) {
  const measure::UseScope use(measure::Use::optimizer);
  const at::NoGradGuard no_grad;
  forget();
  for (const parallel::Updatable& updatable : updatables) entries_.push_back(empty_entry(updatable, kinds()));
  made_ = true;
}

void ParameterState::forget() {
  entries_.clear();
  made_ = false;
}

std::vector<models::NamedTensor> ParameterState::named() const {
  std::vector<models::NamedTensor> all;
  for (const Entry& entry : entries_) {
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      all.push_back({full_name(kinds_[k], entry.name), entry.tensors[k]});
    }
    if (entry.master.defined()) all.push_back({full_name(kMaster, entry.name), entry.master});
  }
  return all;
}

void ParameterState::load(std::span<const parallel::Updatable> updatables,
                          const std::vector<models::NamedTensor>& from) {
  std::map<std::string, at::Tensor> given;
  for (const models::NamedTensor& one : from) given.emplace(one.name, one.tensor);
  ParameterState made(kinds_);
  made.make(updatables);
  std::vector<std::string> faults;
  const at::NoGradGuard no_grad;
  for (const models::NamedTensor& own : made.named()) {
    const auto found = given.find(own.name);
    if (found == given.end()) {
      faults.push_back(own.name + " is missing");
    } else if (found->second.sizes() != own.tensor.sizes()) {
      faults.push_back(own.name + " has another shape");
    } else {
      own.tensor.copy_(found->second);
    }
  }
  if (!faults.empty()) {
    throw base::DataError(
        fmt::format("the optimiser's state does not fit this run: {}. It was saved with another "
                    "model, optimizer or precision; resume with the same spec",
                    base::join(faults, ", ")));
  }
  *this = std::move(made);
}

}  // namespace lockstep::train
