#include "lockstep/comm/rendezvous/identity_source.h"

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <limits>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::comm {
namespace {

std::optional<int> integer(const std::string& name) {
  const std::optional<long> value = base::environment_integer(name);
  if (!value) return std::nullopt;
  if (*value < 0 || *value > std::numeric_limits<int>::max())
    throw base::ConfigError(
        fmt::format("the environment variable {} is {}, which no rank or count can be", name, *value));
  return static_cast<int>(*value);
}

[[noreturn]] void throw_missing(const std::string& there, const std::string& missing) {
  throw base::ConfigError(fmt::format("{} is set, but {} is not. Next step: set {} too, or unset {}", there,
                                      missing, missing, there));
}

// The names under which one launcher publishes a rank; empty where it has none.
struct Names {
  const char* rank;
  const char* world;
  const char* local_rank;
  const char* local_world;
};
constexpr Names kTorchrun = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Names kOpenMpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                            "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kPmi = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};

std::optional<SourceReading> read_pair(const Names& names) {
  const auto rank = integer(names.rank);
  const auto world = integer(names.world);
  if (!rank && !world) return std::nullopt;
  if (!rank) throw_missing(names.world, names.rank);
  if (!world) throw_missing(names.rank, names.world);
  return SourceReading{names.rank, *rank, world, integer(names.local_rank), integer(names.local_world)};
}

// A flag may be completed by the variable of the same meaning; where both speak they must agree.
std::optional<SourceReading> read_flags(const IdentityFlags& flags) {
  if (!flags.rank && !flags.world) return std::nullopt;
  const auto rank = integer("RANK");
  const auto world = integer("WORLD_SIZE");
  if (flags.rank && rank && *flags.rank != *rank)
    throw base::ConfigError(fmt::format("the flags say rank {}, but RANK is {}. Next step: drop one of them",
                                        *flags.rank, *rank));
  if (flags.world && world && *flags.world != *world)
    throw base::ConfigError(
        fmt::format("the flags say a world of {}, but WORLD_SIZE is {}. Next step: drop one of them",
                    *flags.world, *world));
  if (!flags.rank && !rank) throw_missing("the flag for the world's size", "the rank (--rank or RANK)");
  if (!flags.world && !world) throw_missing("--rank", "the world's size (--world or WORLD_SIZE)");
  return SourceReading{"flags", flags.rank ? *flags.rank : *rank, flags.world ? flags.world : world,
                       integer("LOCAL_RANK"), integer("LOCAL_WORLD_SIZE")};
}

// PMIx puts the rank into the environment and keeps the world to itself.
std::optional<SourceReading> read_pmix() {
  const auto rank = integer("PMIX_RANK");
  if (!rank) return std::nullopt;
  return SourceReading{"PMIX_RANK", *rank, integer("PMIX_SIZE"), {}, {}};
}

// A batch script sees the variables of its job without being one of its tasks.
bool is_batch_script() {
  return base::environment("ENVIRONMENT") == "BATCH" && !base::environment("SLURM_STEP_ID");
}

// SLURM_STEP_TASKS_PER_NODE lists the step's nodes in order: "2(x3),1" is 2, 2, 2, 1.
std::optional<int> slurm_local_world() {
  const auto tasks = base::environment("SLURM_STEP_TASKS_PER_NODE");
  const auto node = integer("SLURM_NODEID");
  return tasks && node ? slurm_tasks_on(*tasks, *node) : std::nullopt;
}

std::optional<SourceReading> read_slurm() {
  const auto rank = integer("SLURM_PROCID");
  const auto step_world = integer("SLURM_STEP_NUM_TASKS");
  const auto world = step_world ? step_world : integer("SLURM_NTASKS");
  if (!rank || is_batch_script()) return std::nullopt;
  if (!world) throw_missing("SLURM_PROCID", "SLURM_NTASKS");
  if (*world <= 1) return std::nullopt;
  return SourceReading{"SLURM_PROCID", *rank, world, integer("SLURM_LOCALID"), slurm_local_world()};
}

}  // namespace

std::optional<int> slurm_tasks_on(const std::string& tasks_per_node, int node) {
  for (const std::string& part : base::split(tasks_per_node, ',')) {
    int tasks = 0, nodes = 1;
    if (std::sscanf(part.c_str(), "%d(x%d)", &tasks, &nodes) < 1) return std::nullopt;
    if (node < nodes) return tasks;
    node -= nodes;
  }
  return std::nullopt;
}

std::vector<SourceReading> read_sources(const IdentityFlags& flags) {
  const std::vector<std::function<std::optional<SourceReading>()>> in_order = {
      [&flags] { return read_flags(flags); },
      [] { return read_pair(kTorchrun); },
      [] { return read_pair(kOpenMpi); },
      [] { return read_pair(kPmi); },
      [] { return read_pmix(); },
      [] { return read_slurm(); }};
  std::vector<SourceReading> readings;
  for (const auto& read : in_order) {
    try {
      if (auto reading = read()) readings.push_back(*reading);
    } catch (const base::ConfigError&) {
      if (readings.empty()) throw;
    }
  }
  return readings;
}

}  // namespace lockstep::comm
