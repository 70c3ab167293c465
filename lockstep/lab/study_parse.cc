#include "lockstep/lab/study_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/lab/study_cells.h"
#include "lockstep/lab/study_sections.h"
#include "lockstep/lab/study_settings.h"
#include "lockstep/lab/study_views.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_models.h"

namespace lockstep::lab {
namespace {

const std::vector<std::string>& study_keys() {
  static const std::vector<std::string> kKeys = {
      "name",   "title",   "question",   "questions",   "notes",    "base",   "axes",     "exclude",
      "ladder", "repeats", "impossible", "vary_seed",   "interval", "warmup", "budget",   "targets",
      "tables", "charts",  "published",  "cell_budget", "claims",   "quick",  "stand_ins"};
  return kKeys;
}

// What the quick variant may change: how much is done, never what is compared or measured.
const std::vector<std::string>& quick_keys() {
  static const std::vector<std::string> kKeys = {"cut", "base", "repeats", "interval", "warmup", "stand_ins"};
  return kKeys;
}
const std::vector<std::string>& quick_fields() {
  static const std::vector<std::string> kFields = {"train_samples", "val_samples", "steps",     "epochs",
                                                   "skip_steps",    "max_time",    "image_size"};
  return kFields;
}

std::vector<std::string> texts(const YamlValue& list) {
  std::vector<std::string> all;
  for (const YamlValue& value : list.values()) all.push_back(base::trim(value.text()));
  return all;
}

std::vector<std::string> views(const YamlValue& list, const std::string& kind,
                               std::span<const StudyView> known) {
  const std::vector<std::string> names = names_of(known);
  std::vector<std::string> all;
  for (const YamlValue& value : list.values()) all.push_back(value.one_of(kind, names));
  return all;
}

// A name becomes a directory's: one that leads elsewhere is refused.
void require_plain_name(const YamlValue& name) {
  const std::string text = name.text();
  if (!base::is_plain_name(text))
    name.refuse(
        fmt::format("'{}' cannot be the name of a study: letters, digits, '-', '_', '+' and '.', and neither "
                    "'.' nor '-' first, 200 at most.",
                    text));
}

void read_words(Study& study, const YamlValue& root) {
  require_plain_name(root.at("name", "a study"));
  study.name = root.at("name", "a study").text();
  study.title = root.at("title", "a study").text();
  for (const char* key : {"question", "questions"})
    if (const auto value = root.find(key))
      for (std::string& question : texts(*value)) study.questions.push_back(std::move(question));
  if (study.questions.empty()) root.refuse("a study needs a question.");
  if (const auto notes = root.find("notes")) study.notes = base::trim(notes->text());
}

void read_grid(Study& study, const YamlValue& root) {
  if (const auto base = root.find("base")) study.base_fields = read_fields(*base, "base");
  if (const auto axes = root.find("axes")) study.axes = read_axes(*axes);
  if (const auto exclude = root.find("exclude")) study.exclusions = read_exclusions(*exclude, study.axes);
  if (const auto ladder = root.find("ladder")) study.ladder = read_ladder(*ladder, study.axes);
  static const std::vector<std::string> kWays = {"refuse", "list"};
  if (const auto way = root.find("impossible")) study.list_impossible = way->one_of("way", kWays) == "list";
}

void read_effort(Study& study, const YamlValue& root) {
  if (const auto repeats = root.find("repeats")) study.repeats = read_repeats(*repeats);
  if (const auto interval = root.find("interval")) study.interval = read_interval(*interval);
  if (const auto warmup = root.find("warmup"))
    study.base_fields.push_back({"skip_steps", warmup->text(), warmup->place()});
  if (const auto vary = root.find("vary_seed")) study.vary_seed = vary->truth();
  if (const auto budget = root.find("budget")) study.budget = budget->duration();
  if (const auto budget = root.find("cell_budget")) study.cell_budget = budget->duration();
  if (const auto targets = root.find("targets")) study.targets = read_targets(*targets);
}

void read_answers(Study& study, const YamlValue& root) {
  if (const auto tables = root.find("tables")) study.tables = views(*tables, "table", study_tables());
  if (const auto charts = root.find("charts")) study.charts = views(*charts, "chart", study_charts());
  if (const auto published = root.find("published")) study.published = read_published(*published);
  if (const auto claims = root.find("claims")) study.claims = read_claims(*claims, study.published);
}

// `stand_ins: {data: {cifar10: digits}}`, and in the quick variant `{model: {vgg16: {model: lenet5}}}`.
void read_stand_ins(Study& study, const YamlValue& map, bool quick) {
  const std::vector<std::string> kinds =
      quick ? std::vector<std::string>{"data", "model"} : std::vector<std::string>{"data"};
  for (const YamlValue::Pair& kind : map.pairs("stand_ins", kinds))
    for (const YamlValue::Pair& pair : kind.value.pairs("stand_ins"))
      if (kind.name() == "data") {
        const auto sets = record::names_of(record::data_entries());
        study.data_stand_ins[pair.key.one_of("data set", sets)] = pair.value.one_of("data set", sets);
      } else {
        const auto models = record::names_of(record::model_entries());
        study.model_stand_ins[pair.key.one_of("model", models)] = read_fields(pair.value, "a stand-in");
      }
}

void require_quick_field(const FieldSetting& setting) {
  const std::vector<std::string>& allowed = quick_fields();
  if (std::find(allowed.begin(), allowed.end(), setting.field) != allowed.end()) return;
  throw base::ConfigError(
      fmt::format("{}the quick variant may not change '{}': it cuts how much is done ({}) and names "
                  "stand-ins, never what "
                  "is compared or measured.",
                  setting.place, setting.field, base::join(allowed, ", ")));
}

void read_quick(Study& study, const YamlValue& map) {
  (void)map.pairs("quick", quick_keys());
  study.cut = base::trim(map.at("cut", "quick").text());
  if (const auto base = map.find("base"))
    for (FieldSetting& setting : read_fields(*base, "base")) {
      require_quick_field(setting);
      study.base_fields.push_back(std::move(setting));
    }
  if (const auto repeats = map.find("repeats")) study.repeats = read_repeats(*repeats);
  if (const auto interval = map.find("interval")) study.interval = read_interval(*interval);
  if (const auto warmup = map.find("warmup"))
    study.base_fields.push_back({"skip_steps", warmup->text(), warmup->place()});
  if (const auto stand_ins = map.find("stand_ins")) read_stand_ins(study, *stand_ins, true);
}

void set_base(Study& study) {
  for (const FieldSetting& setting : study.base_fields) set_from(study.base, setting);
}

Study read_all(const YamlValue& root, const StudyChoice& choice) {
  (void)root.pairs("a study", study_keys());
  Study study;
  study.choice = choice;
  read_words(study, root);
  read_grid(study, root);
  read_effort(study, root);
  read_answers(study, root);
  if (const auto stand_ins = root.find("stand_ins")) read_stand_ins(study, *stand_ins, false);
  const auto quick = root.find("quick");
  if (choice.quick && !quick) root.refuse(fmt::format("study {} has no quick variant.", study.name));
  Study variant = study;
  if (quick) read_quick(variant, *quick);  // checked even where it is not asked for
  if (choice.quick) study = std::move(variant);
  for (const FieldSetting& setting : choice.sets) take_setting(study, setting);
  set_base(study);
  return study;
}

}  // namespace

Study parse_study(const std::string& text, const std::string& file_name, const StudyChoice& choice) {
  const YamlValue root(record::parse_yaml(text, file_name), file_name);
  if (!root.is_map()) root.refuse("a study must be lines of 'key: value'.");
  Study study = read_all(root, choice);
  study.file_name = file_name;
  study.source_text = text;
  (void)cells_of(study);  // so that every value of every axis is checked
  return study;
}

Study read_study_file(const std::filesystem::path& file, const StudyChoice& choice) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream || std::filesystem::is_directory(file))
    throw base::ConfigError(
        fmt::format("the study file '{}' cannot be read: {}.", file.string(), base::errno_text()));
  return parse_study(text.str(), file.string(), choice);
}

}  // namespace lockstep::lab
