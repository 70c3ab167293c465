#include "lockstep/lab/study_plan.h"

namespace lockstep::lab {
namespace {

std::string place_in(const std::vector<FieldSetting>& settings, const std::string& field) {
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting)
    if (setting->field == field) return setting->place;
  return "";
}

std::string place_on(const Axis& axis, const std::string& label, const std::string& field) {
  for (const AxisValue& value : axis.values)
    if (value.label == label) return place_in(value.sets, field);
  return "";
}

}  // namespace

std::string place_of(const Study& study, const Cell& cell, const std::string& field) {
  std::string place;
  for (const Axis& axis : study.axes)
    if (std::string on_axis = place_on(axis, cell.at(axis.name), field); !on_axis.empty()) place = on_axis;
  if (place.empty()) place = place_in(study.base_fields, field);
  if (place.empty() && !study.axes.empty()) place = study.axes.front().place;
  return place.empty() ? study.file_name + ": " : place;
}

}  // namespace lockstep::lab
