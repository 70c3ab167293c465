#include "lockstep/lab/study_settings.h"

#include "lockstep/base/error.h"
#include "lockstep/lab/study_sections.h"

namespace lockstep::lab {
namespace {

template <class Work>
void blaming(const FieldSetting& setting, const Work& work) {
  try {
    work();
  } catch (const base::ConfigError& error) {
    if (setting.place != kSetPlace) throw;
    throw base::UsageError(error.what());
  }
}

void take(Study& study, const FieldSetting& setting) {
  if (setting.field == "repeats") {
    study.repeats = read_repeats(YamlValue(YAML::Node(setting.text), "--set"));
    return;
  }
  for (Axis& axis : study.axes)
    if (axis.name == setting.field) {
      axis = with_values(axis, setting);
      return;
    }
  study.base_fields.push_back(setting);
}

}  // namespace

void set_from(record::RunSpec& spec, const FieldSetting& setting) {
  blaming(setting, [&] { record::set_field(spec, setting.field, setting.text, setting.place); });
}

void take_setting(Study& study, const FieldSetting& setting) {
  blaming(setting, [&] { take(study, setting); });
}

}  // namespace lockstep::lab
