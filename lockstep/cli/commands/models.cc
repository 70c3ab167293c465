#include "lockstep/cli/commands/models.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/units.h"
#include "lockstep/cli/captured_program.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/text_table.h"
#include "lockstep/cli/train/live_status.h"
#include "lockstep/cli/train/worker_program.h"
#include "lockstep/record/catalogue_models.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr base::Nanoseconds kLimit = std::chrono::minutes(2);

Json described_models(const std::filesystem::path& worker, std::optional<int> classes) {
  std::vector<std::string> command = {worker.string(), "describe", "--json"};
  if (classes) command.insert(command.end(), {"--classes", std::to_string(*classes)});
  const std::string what = "`lockstep-worker describe`";
  const Json described = base::try_parse_json(output_of(command, what, kLimit));
  if (!described.is_object() || !described.contains("models") || !described["models"].is_array())
    throw base::DeviceError(what +
                            " did not answer as this version expects. Next step: build both programs anew.");
  return described["models"];
}

std::string whole(const Json& model, const char* name) {
  if (!model.contains(name) || !model[name].is_number()) return "";
  return with_commas(static_cast<std::uint64_t>(model[name].get<double>()));
}

std::string flops(const Json& model) {
  if (!model.contains("flops_per_sample")) return "";
  const double count = model["flops_per_sample"].get<double>();
  return count < 1e9 ? fmt::format("{:.4g} M", count / 1e6) : fmt::format("{:.4g} G", count / 1e9);
}

std::string activations(const Json& model) {
  if (!model.contains("activation_bytes_per_sample")) return "";
  return base::format_bytes(static_cast<std::uint64_t>(model["activation_bytes_per_sample"].get<double>()));
}

std::string text_of(const Json& models, const Console& console) {
  TextTable table({{"name", false}, {"parameters"}, {"FLOPs"}, {"activations"}, {"what", false}});
  for (const Json& model : models)
    table.add({model.value("name", ""), whole(model, "parameters"), flops(model), activations(model),
               model.value("description", "")});
  return table.text(console, 0) +
         "\nFLOPs (forward; a multiply-add is two) and activations are of one sample. Or FILE.pt: a "
         "TorchScript module of your own, whose code runs.\n";
}

Json catalogue() {
  Json models = Json::array();
  for (const record::ModelEntry& entry : record::model_entries())
    models.push_back(
        {{"name", entry.name}, {"task", record::name_of(entry.task)}, {"description", entry.description}});
  return models;
}

}  // namespace

std::vector<Example> ModelsCommand::examples() const {
  return {
      {"lockstep models", "name, parameters, FLOPs and activations of one sample"},
      {"lockstep models --classes 10 --json", "for ten classes, as JSON"},
  };
}

std::vector<Flag> ModelsCommand::flags() {
  return {{.names = "--classes",
           .value = "N",
           .help = "classes to count for (default: 1000 for torchvision's, else the model's own)",
           .set = whole_number(classes_, 1)},
          {.names = "--json", .help = "print one JSON document", .set = turn_on(json_)}};
}

// Names and descriptions need no worker; what is counted does.
int ModelsCommand::show_catalogue(const Invocation& invocation) const {
  invocation.console.print(json_ ? base::json_text(catalogue(), 2) + "\n"
                                 : text_of(catalogue(), invocation.console));
  throw base::DeviceError(
      "parameters and FLOPs are counted by lockstep-worker, which is not beside this program: it was built "
      "without "
      "libtorch. Next step: install libtorch-dev (or pip's torch, with TORCH=pip) and build again.");
}

int ModelsCommand::run(const Invocation& invocation) {
  const auto worker = find_worker();
  if (!worker) return show_catalogue(invocation);
  const Json models = described_models(*worker, classes_);
  invocation.console.print(json_ ? base::json_text(models, 2) + "\n" : text_of(models, invocation.console));
  return 0;
}

}  // namespace lockstep::cli
