#include "lockstep/comm/rendezvous/meeting_place.h"

#include <fmt/format.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/key.h"

namespace lockstep::comm {
namespace {

constexpr int kFirstPort = 20000;
constexpr int kLastPort = 59999;

int check_port(long port, const std::string& name) {
  if (port < 1 || port > 65535)
    throw base::ConfigError(fmt::format("{} is {}, which is no port", name, port));
  return static_cast<int>(port);
}

std::optional<std::string> told_address(const IdentityFlags& flags) {
  return flags.master_addr ? flags.master_addr : base::environment("MASTER_ADDR");
}

std::optional<int> told_port(const IdentityFlags& flags) {
  if (flags.master_port) return check_port(*flags.master_port, "--master-port");
  const auto port = base::environment_integer("MASTER_PORT");
  if (!port) return std::nullopt;
  check_port(*port, "MASTER_PORT");
  // Where torchrun's own agent serves its store at MASTER_PORT, ours goes next to it.
  const bool taken = base::environment("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return static_cast<int>(taken ? (*port < 65535 ? *port + 1 : *port - 1) : *port);
}

// What all ranks of one mpirun find in their environment and no other job does.
std::string mpi_job() {
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri", "PMI_JOBID"})
    if (const auto value = base::environment(name)) return fmt::format("{}={}", name, *value);
  return {};
}

// What all tasks of one step know and no other step does; a requeued job keeps its number.
std::string slurm_step() {
  const auto said = [](const char* name) { return base::environment(name).value_or("0"); };
  return fmt::format("slurm-{}.{}.{}", said("SLURM_JOB_ID"), said("SLURM_STEP_ID"),
                     said("SLURM_RESTART_COUNT"));
}

// Where the user gave the key, every rank computes the same place from it, which nobody else can. Else rank 0
// says in the meeting file where it is.
void meet_in_slurm(Identity& identity) {
  identity.job = slurm_step();
  if (identity.key.empty()) return;
  const auto nodes = base::environment("SLURM_STEP_NODELIST");
  const auto list = nodes ? nodes : base::environment("SLURM_JOB_NODELIST");
  const bool one_node = !list || first_slurm_host(*list) == *list;
  identity.master_addr = one_node ? "127.0.0.1" : first_slurm_host(*list);
  const std::string drawn = prove(identity.key, "port", {identity.job});
  const int spread = static_cast<unsigned char>(drawn[0]) * 256 + static_cast<unsigned char>(drawn[1]);
  identity.master_port = kFirstPort + spread % (kLastPort - kFirstPort + 1);
}

[[noreturn]] void throw_no_place(const Identity& identity, std::string_view why) {
  throw base::ConfigError(
      fmt::format("{} says rank {} of {}, but the ranks do not know where to meet: {}. Next "
                  "step: set MASTER_ADDR to the host of rank 0 and MASTER_PORT to a free "
                  "port there, the same on every rank",
                  identity.source, identity.group.rank, identity.group.world, why));
}

bool is_mpi(const std::string& source) {
  return source.starts_with("OMPI_") || source.starts_with("PMI");
}

}  // namespace

void find_meeting_place(const IdentityFlags& flags, Identity& identity) {
  const auto address = told_address(flags);
  const auto port = told_port(flags);
  identity.launcher_serves = base::environment("LOCKSTEP_SERVER") == "launcher";
  if (address && port) {
    identity.master_addr = *address;
    identity.master_port = *port;
    identity.job = fmt::format("{}-{}", *address, *port);
  }
  if (identity.launcher_serves && (!address || !port || identity.key.empty()))
    throw base::ConfigError(fmt::format(
        "LOCKSTEP_SERVER is set, but MASTER_ADDR, MASTER_PORT and {} are not all set", kKeyVariable));
  if (address && port) return;
  if (identity.group.world == 1) {
    identity.master_addr = "127.0.0.1";
  } else if (address || port) {
    throw_no_place(identity, fmt::format("{} is set, {} is not", address ? "MASTER_ADDR" : "MASTER_PORT",
                                         address ? "MASTER_PORT" : "MASTER_ADDR"));
  } else if (identity.source == "SLURM_PROCID" ||
             (is_mpi(identity.source) && base::environment("SLURM_STEP_ID") && mpi_job().empty())) {
    meet_in_slurm(identity);
  } else if (is_mpi(identity.source) && !mpi_job().empty()) {
    identity.job = "mpi-" + mpi_job();
  } else {
    throw_no_place(identity, "MASTER_ADDR and MASTER_PORT are not set");
  }
}

std::string first_slurm_host(const std::string& node_list) {
  const std::size_t bracket = node_list.find('[');
  const std::size_t comma = node_list.find(',');
  if (bracket == std::string::npos || comma < bracket) return node_list.substr(0, comma);
  const std::size_t number_end = node_list.find_first_of(",-]", bracket);
  const std::size_t close = node_list.find(']', bracket);
  const std::string number = node_list.substr(bracket + 1, number_end - bracket - 1);
  const std::size_t suffix_end = node_list.find(',', close);
  const std::string suffix =
      close == std::string::npos ? "" : node_list.substr(close + 1, suffix_end - close - 1);
  return node_list.substr(0, bracket) + number + suffix;
}

}  // namespace lockstep::comm
