#include "lockstep/models/registry.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

// In the order in which tables show them.
constexpr std::array kEntries = {
    &kResNet18,       //
    &kVgg16,          //
    &kSqueezeNet10,   //
    &kDenseNet121,    //
    &kAlexNet,        //
    &kResNet18Cifar,  //
    &kVit,            //
    &kPilotNet,       //
    &kDeepWide,       //
    &kRestorer,       //
    &kLeNet5,         //
};

}  // namespace

std::span<const ModelEntry* const> model_entries() {
  return kEntries;
}

const ModelEntry& model_entry(std::string_view name) {
  std::vector<std::string> names;
  for (const ModelEntry* entry : kEntries) {
    if (entry->name == name) return *entry;
    names.emplace_back(entry->name);
  }
  throw base::UsageError(
      fmt::format("there is no model '{}'.{} Models: {}; or the path of a TorchScript file (.pt)", name,
                  base::suggestion(name, names), base::join(names, ", ")));
}

}  // namespace lockstep::models
