// The names of the tables and charts that a study may ask for; report draws them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::lab {

struct StudyView {
  std::string_view name;
  std::string_view what;
};

std::span<const StudyView> study_tables();
std::span<const StudyView> study_charts();
std::vector<std::string> names_of(std::span<const StudyView> views);

}  // namespace lockstep::lab
