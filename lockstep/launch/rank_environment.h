// The environment variables of a rank; the names are torchrun's where it has one.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep::launch {

using Variables = std::map<std::string, std::string>;

// Where the run's server listens, and the secret that opens it.
struct RunAddress {
  std::string address;
  int port = 0;
  std::string key;
};

// All variables of this process.
Variables current_variables();

// The same for every rank: MASTER_ADDR, MASTER_PORT, LOCKSTEP_KEY, LOCKSTEP_SERVER.
Variables run_variables(const RunAddress& run);

// RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE of one of `world` ranks on this host.
Variables rank_variables(int rank, int world);

// What mpirun must not inherit: another launcher's idea of the rank, which would win over mpirun's own, and a
// batch system's allocation, which would make mpirun start ranks on other hosts.
Variables without_other_launchers(Variables variables);

// All of both; `over` wins.
Variables merged(Variables under, const Variables& over);

std::vector<std::string> names_of(const Variables& variables);

// "0,1;2,3": the cores of every rank in one variable, for ranks that mpirun starts. And back: those of one
// rank.
std::string encode_rank_cpus(const std::vector<std::vector<int>>& cpus_by_rank);
std::vector<int> decode_rank_cpus(const std::string& text, int rank);

}  // namespace lockstep::launch
