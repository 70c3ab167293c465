// The flags of `lockstep bench`, with nccl-tests' short names.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/cli/setters.h"
#include "lockstep/record/catalogue.h"

namespace lockstep::cli {
namespace {

using measure::Collective;

// Receiving is the other half of `send`.
std::vector<Collective> benchable_collectives() {
  std::vector<Collective> list;
  for (int i = 0; i < measure::kCollectiveCount; ++i)
    if (static_cast<Collective>(i) != Collective::receive) list.push_back(static_cast<Collective>(i));
  return list;
}

template <typename Value>
std::vector<Value> all_values(int count) {
  std::vector<Value> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<Value>(i));
  return values;
}

template <typename Value>
std::vector<std::string> names_and_all(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(name_of(value));
  names.emplace_back("all");
  return names;
}

// Words with commas between them, each the name of one of `values`, or `all`.
template <typename Value, typename Named>
Setter named_list(std::vector<Value>& target, std::vector<Value> values, std::string kind, Named named) {
  return [&target, values = std::move(values), kind = std::move(kind), named](const std::string& typed) {
    std::vector<std::string> list;
    words(list)(typed);
    for (const std::string& word : list) {
      const std::optional<Value> value = named(word);
      const bool known = value && std::find(values.begin(), values.end(), *value) != values.end();
      if (word == "all") {
        target.insert(target.end(), values.begin(), values.end());
      } else if (known) {
        target.push_back(*value);
      } else {
        require_known(kind, word, names_and_all(values));
      }
    }
  };
}

Setter collectives_setter(BenchOptions& options) {
  return named_list(options.collectives, benchable_collectives(), "collective", measure::collective_named);
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const record::BackendEntry& entry : record::backend_entries()) names.emplace_back(entry.name);
  return names;
}

Setter backends_setter(BenchOptions& options) {
  return [&options](const std::string& typed) {
    std::vector<std::string> list;
    words(list)(typed);
    for (const std::string& word : list) require_known("backend", word, backend_names());
    options.backends.insert(options.backends.end(), list.begin(), list.end());
  };
}

Setter buffer_setter(BenchOptions& options) {
  return [&options](const std::string& typed) {
    std::string word;
    one_of(word, {"owned", "private", "both"})(typed);
    options.buffer = word == "owned"     ? BufferChoice::owned
                     : word == "private" ? BufferChoice::private_
                                         : BufferChoice::both;
  };
}

Setter algorithm_setter(BenchOptions& options) {
  return [&options](const std::string& typed) {
    std::vector<std::string> list;
    words(list)(typed);
    for (const std::string& word : list) {
      const std::vector<std::string> parts = base::split(word, ':');
      if (parts.size() != 2)
        throw base::UsageError(fmt::format("'{}' is not BACKEND:NAME, such as gloo:ring.", word));
      require_known("backend", parts[0], backend_names());
      options.algorithms[parts[0]].push_back(parts[1]);
    }
  };
}

Setter step_setter(BenchOptions& options) {
  return [&options](const std::string& typed) {
    bytes(options.step_bytes)(typed);
    if (options.step_bytes == 0)
      throw base::UsageError("a step of nothing never gets from one size to the next.");
  };
}

std::vector<Flag> what_flags(BenchOptions& options) {
  const std::vector<std::string> collectives = names_and_all(benchable_collectives());
  const std::vector<comm::ElementType> types = all_values<comm::ElementType>(comm::kElementTypeCount);
  const std::vector<comm::ReduceOp> ops = all_values<comm::ReduceOp>(comm::kReduceOpCount);
  return {
      {.names = "collective",
       .value = "COLLECTIVE",
       .help = base::join(collectives, ", "),
       .known_values = collectives,
       .list = true,
       .set = collectives_setter(options)},
      {.names = "--collective",
       .value = "LIST",
       .help = "the same as a flag",
       .known_values = collectives,
       .list = true,
       .set = collectives_setter(options)},
      {.names = "--backend",
       .value = "LIST",
       .help = "backends that take turns within one run (default shm)",
       .known_values = backend_names(),
       .list = true,
       .set = backends_setter(options)},
      {.names = "--workers",
       .value = "N",
       .help = "ranks to start here (default 2)",
       .set = whole_number(options.workers, 1)},
      {.names = "-d,--dtype",
       .value = "LIST",
       .help = "element types, or all (default f32)",
       .known_values = names_and_all(types),
       .list = true,
       .set = named_list(options.types, types, "element type", comm::element_type_named)},
      {.names = "-o,--op",
       .value = "LIST",
       .help = "reductions, or all (default sum)",
       .known_values = names_and_all(ops),
       .list = true,
       .set = named_list(options.ops, ops, "reduction", comm::reduce_op_named)},
      {.names = "-r,--root",
       .value = "RANK",
       .help = "the root of rooted collectives (default 0)",
       .set = whole_number(options.root, 0)},
      {.names = "--buffer",
       .value = "KIND",
       .help =
           "memory of the communicator (owned), of the process (private), or both (default for all_reduce)",
       .known_values = {"owned", "private", "both"},
       .set = buffer_setter(options)},
  };
}

std::vector<Flag> size_flags(BenchOptions& options) {
  return {
      {.names = "-b,--min-bytes",
       .value = "SIZE",
       .help = "smallest payload (default 4K)",
       .set = bytes(options.min_bytes)},
      {.names = "-e,--max-bytes",
       .value = "SIZE",
       .help = "largest payload (default 64M)",
       .set = bytes(options.max_bytes)},
      {.names = "-f,--factor",
       .value = "X",
       .help = "each payload X times the one before (default 4)",
       .set = number(options.factor)},
      {.names = "-i,--step",
       .value = "SIZE",
       .help = "or each payload SIZE larger",
       .set = step_setter(options)},
      {.names = "-n,--iterations",
       .value = "N",
       .help = "operations timed per size (default: about 0.3 s)",
       .set = whole_number(options.iterations, 1)},
      {.names = "-w,--warmup",
       .value = "N",
       .help = "operations before them (default: about 0.05 s)",
       .set = whole_number(options.warmup, 0)},
      {.names = "-c,--check",
       .value = "0|1",
       .help = "check every element of the result (default 1)",
       .known_values = {"0", "1"},
       .set = zero_or_one(options.check)},
      {.names = "--min-busbw",
       .value = "RATE",
       .help =
           "bus bandwidth demanded at the largest payload (2G: 2 GiB/s; a bare number: bytes/s), else exit 5",
       .set = bytes_per_second(options.min_busbw)},
  };
}

std::vector<Flag> run_flags(BenchOptions& options) {
  const std::vector<std::string> progress = {"auto", "bar", "lines", "none"};
  return {
      {.names = "--timeout",
       .value = "TIME",
       .help = "limit of every operation (default 60s)",
       .set = duration(options.timeout)},
      {.names = "--join-timeout",
       .value = "TIME",
       .help = "limit for all ranks to arrive (default 60s)",
       .set = duration(options.join_timeout)},
      {.names = "--interface",
       .value = "NAME",
       .help = "network interface (gloo; mpi between hosts)",
       .set = text(options.interface)},
      {.names = "--algorithm",
       .value = "LIST",
       .help = "algorithms as BACKEND:NAME (gloo, mpi); several of one backend are benched side by side",
       .list = true,
       .set = algorithm_setter(options)},
      {.names = "--threads",
       .value = "N",
       .help = "threads per worker (default: its cores)",
       .set = whole_number(options.threads, 1)},
      {.names = "--rank",
       .value = "RANK",
       .help = "be this rank of a run started by hand",
       .set = whole_number(options.identity.rank, 0)},
      {.names = "--world",
       .value = "N",
       .help = "with --rank: how many ranks there are",
       .set = whole_number(options.identity.world, 1)},
      {.names = "--master-addr",
       .value = "HOST",
       .help = "with --rank: where rank 0 listens",
       .set = text(options.identity.master_addr)},
      {.names = "--master-port",
       .value = "PORT",
       .help = "with --rank: its port",
       .set = port(options.identity.master_port)},
      {.names = "--log-dir",
       .value = "DIR",
       .help = "keep every rank's log there",
       .set = path(options.log_directory)},
      {.names = "--progress",
       .value = "HOW",
       .help = "auto (default: a bar on a terminal), bar, lines or none",
       .known_values = progress,
       .set = one_of(options.progress, progress)},
      {.names = "--json", .help = "print one JSON document", .set = turn_on(options.json)},
      {.names = "--json-file",
       .value = "FILE",
       .help = "write that document to a file, whatever is printed",
       .set = path(options.json_file)},
  };
}

}  // namespace

std::vector<Flag> bench_flags(BenchOptions& options) {
  std::vector<Flag> flags = what_flags(options);
  for (Flag& flag : size_flags(options)) flags.push_back(std::move(flag));
  for (Flag& flag : run_flags(options)) flags.push_back(std::move(flag));
  return flags;
}

}  // namespace lockstep::cli
