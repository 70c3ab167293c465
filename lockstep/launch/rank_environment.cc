#include "lockstep/launch/rank_environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "lockstep/base/text.h"

namespace lockstep::launch {

Variables current_variables() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Variables run_variables(const RunAddress& run) {
  return {{"MASTER_ADDR", run.address},
          {"MASTER_PORT", std::to_string(run.port)},
          {"LOCKSTEP_KEY", run.key},
          {"LOCKSTEP_SERVER", "launcher"}};
}

Variables rank_variables(int rank, int world) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(world)},
          {"LOCAL_RANK", std::to_string(rank)},
          {"LOCAL_WORLD_SIZE", std::to_string(world)}};
}

Variables without_other_launchers(Variables variables) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) variables.erase(name);
  std::erase_if(variables, [](const auto& variable) { return variable.first.starts_with("SLURM_"); });
  return variables;
}

Variables merged(Variables under, const Variables& over) {
  for (const auto& [name, value] : over) under[name] = value;
  return under;
}

std::vector<std::string> names_of(const Variables& variables) {
  std::vector<std::string> names;
  for (const auto& [name, value] : variables) names.push_back(name);
  return names;
}

std::string encode_rank_cpus(const std::vector<std::vector<int>>& cpus_by_rank) {
  std::vector<std::string> ranks;
  for (const std::vector<int>& cpus : cpus_by_rank) ranks.push_back(fmt::format("{}", fmt::join(cpus, ",")));
  return base::join(ranks, ";");
}

std::vector<int> decode_rank_cpus(const std::string& text, int rank) {
  const std::vector<std::string> ranks = base::split(text, ';');
  std::vector<int> cpus;
  if (rank < 0 || static_cast<std::size_t>(rank) >= ranks.size()) return cpus;
  for (const std::string& number : base::split(ranks[static_cast<std::size_t>(rank)], ',')) {
    int cpu = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), cpu).ec == std::errc())
      cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace lockstep::launch
