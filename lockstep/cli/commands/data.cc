#include "lockstep/cli/commands/data.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/base/units.h"
#include "lockstep/cli/progress.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/text_table.h"
#include "lockstep/cli/train/live_status.h"
#include "lockstep/cli/train/train_plan.h"
#include "lockstep/data/describe.h"
#include "lockstep/data/get/get.h"

namespace lockstep::cli {
namespace {

std::string samples_text(const data::SetDescription& set) {
  if (!set.train_samples || !set.val_samples) return "";
  return with_commas(*set.train_samples) + " + " + with_commas(*set.val_samples);
}

std::string state_text(const data::SetDescription& set) {
  if (!set.available) return "missing";
  const auto* entry = record::find_entry(record::data_entries(), set.name);
  if (entry != nullptr && entry->source == record::Source::users_path) return "your own";
  return set.directory.empty() ? "needs none" : "here";
}

// Where a set lies; for one that is missing every place that was tried, and the way to get it.
std::string places_text(const data::SetDescription& set) {
  if (!set.directory.empty()) return fmt::format("  {} is in {}\n", set.name, set.directory.string());
  if (set.available) return "";
  std::string text = fmt::format("  {} was looked for in\n", set.name);
  for (const data::Place& place : set.places)
    text += fmt::format("      {}  ({})\n", place.directory.string(), place.source);
  return text + "      to get it: " + set.how_to_get + "\n";
}

std::string text_of(const std::vector<data::SetDescription>& sets, const Console& console) {
  TextTable table({{"name", false}, {"samples"}, {"shape"}, {"classes"}, {"files", false}, {"what", false}});
  std::string places;
  for (const data::SetDescription& set : sets) {
    const std::string classes = set.classes > 0 ? std::to_string(set.classes) : "";
    table.add(
        {set.name, samples_text(set), cli::text_of(set.shape), classes, state_text(set), set.description});
    places += places_text(set);
  }
  return table.text(console, 0) +
         (places.empty() ? "" : "\n" + console.styled("Files", Tone::heading) + "\n" + places);
}

nlohmann::json json_of(const std::vector<data::SetDescription>& sets) {
  nlohmann::json list = nlohmann::json::array();
  for (const data::SetDescription& set : sets) list.push_back(data::to_json(set));
  return list;
}

std::string transfer_text(const std::string& name, std::uint64_t done, std::uint64_t total) {
  return total == 0 ? fmt::format("{}: {}", name, base::format_bytes(done))
                    : fmt::format("{}: {} of {}", name, base::format_bytes(done), base::format_bytes(total));
}

// libcurl tells of progress many times a second; a bar needs a few.
std::function<void(std::uint64_t, std::uint64_t)> shown_by(Progress& progress, const std::string& name) {
  constexpr base::Nanoseconds kInterval = std::chrono::milliseconds(200);
  return [&progress, name, next = base::Deadline(base::Nanoseconds(0))](std::uint64_t done,
                                                                        std::uint64_t total) mutable {
    if (!progress.has_bar() || !next.passed()) return;
    progress.show(transfer_text(name, done, total));
    next = base::Deadline(kInterval);
  };
}

void get_one(const std::string& name, const std::optional<std::filesystem::path>& data_dir,
             const std::string& how, const Console& console) {
  const data::RemoteSet set = data::remote_set(name);
  Progress progress(how);
  data::TransferOptions options;
  options.on_progress = shown_by(progress, name);
  const data::GetResult result = data::get_set(set, data::download_directory(data_dir), options);
  progress.clear();
  console.print(fmt::format("{}: {} fetched, {} already there, in {}\n", name, result.files_fetched,
                            result.files_present, result.directory.string()));
}

}  // namespace

std::vector<Example> DataCommand::examples() const {
  return {
      {"lockstep data", "the sets there are, and which are on this machine"},
      {"lockstep data get mnist", "download one from its publisher or a mirror, and check it"},
      {"lockstep data get cifar10 --data-dir ~/data", "to a directory of your own"},
  };
}

std::vector<Flag> DataCommand::flags() {
  std::vector<std::string> known = {"get"};
  for (const std::string& name : record::names_of(record::data_entries())) known.push_back(name);
  const std::vector<std::string> progress = {"auto", "bar", "none"};
  return {{.names = "words",
           .value = "[get NAME...]",
           .help = "download these sets; without it: list all",
           .known_values = known,
           .set = words(words_)},
          {.names = "--data-dir",
           .value = "DIR",
           .help = "where data sets lie (default: LOCKSTEP_DATA, else the XDG data directory)",
           .set = [this](const std::string& typed) { data_dir_ = typed; }},
          {.names = "--progress",
           .value = "HOW",
           .help = "auto (default: a bar on a terminal), bar or none",
           .known_values = progress,
           .set = one_of(progress_, progress)},
          {.names = "--json", .help = "print one JSON document", .set = turn_on(json_)}};
}

int DataCommand::get(const std::vector<std::string>& names, const Console& console) const {
  if (names.empty()) throw base::UsageError("which data set? For example: lockstep data get mnist.");
  for (const std::string& name : names)
    require_known("data set", name, record::names_of(record::data_entries()));
  for (const std::string& name : names) get_one(name, data_dir_, progress_, console);
  return 0;
}

int DataCommand::run(const Invocation& invocation) {
  if (!words_.empty()) {
    require_known("action of `lockstep data`", words_.front(), {"get"});
    return get({words_.begin() + 1, words_.end()}, invocation.console);
  }
  std::error_code ignored;
  if (data_dir_ && !std::filesystem::is_directory(*data_dir_, ignored))
    throw base::DataError(fmt::format("--data-dir: {} is not a directory. `lockstep data get NAME` makes it.",
                                      data_dir_->string()));
  const std::vector<data::SetDescription> sets = data::describe_all(data_dir_);
  invocation.console.print(json_ ? base::json_text(json_of(sets), 2) + "\n"
                                 : text_of(sets, invocation.console));
  return 0;
}

}  // namespace lockstep::cli
