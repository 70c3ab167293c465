// The flags of `lockstep train`: every field of a RunSpec is one, made from the same table as JSON and YAML.
#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/train/train_options.h"
#include "lockstep/record/spec_fields.h"
#include "lockstep/record/spec_yaml.h"

namespace lockstep::cli {
namespace {

// On the command line a value that is not understood is a mistake in its usage.
void require_good(const std::string& field, const std::string& text) {
  record::RunSpec scratch;
  try {
    record::set_field(scratch, field, text, "");
  } catch (const base::ConfigError& error) {
    throw base::UsageError(error.what());
  }
}

Flag flag_of(const record::Field& field, TrainOptions& options) {
  const bool truth = field.kind == record::FieldKind::flag;
  return {.names = field.flag(),
          .value = truth ? "BOOL" : std::string(field.placeholder()),
          .help = record::help_text(field),
          .known_values = truth ? std::vector<std::string>{"true", "false"} : field.rule.choices(),
          .truth = truth,
          .group = std::string(record::name_of(field.group)),
          .set = [name = field.name, &options](const std::string& text) {
            require_good(name, text);
            options.by_flag.push_back({name, text});
          }};
}

Setter assignment(TrainOptions& options) {
  return [&options](const std::string& typed) {
    const auto equals = typed.find('=');
    if (equals == std::string::npos)
      throw base::UsageError(fmt::format("'{}' is not FIELD=VALUE, such as batch_size=64.", typed));
    const Assignment given{typed.substr(0, equals), typed.substr(equals + 1)};
    require_good(given.field, given.text);
    options.by_set.push_back(given);
  };
}

Setter one_spec_file(TrainOptions& options) {
  return [&options](const std::string& typed) {
    if (!options.spec_file.empty())
      throw base::UsageError(
          fmt::format("one spec file is read, and two are given: '{}' and '{}'. To join them, put the "
                      "second one's fields into flags or --set.",
                      options.spec_file, typed));
    options.spec_file = typed;
  };
}

std::vector<std::string> field_assignments() {
  std::vector<std::string> words = record::spec_field_names();
  for (std::string& word : words) word += "=";
  return words;
}

std::vector<Flag> request_flags(TrainOptions& options) {
  const std::vector<std::string> progress = {"auto", "bar", "lines", "none"};
  return {
      {.names = "file",
       .value = "[FILE]",
       .help = "a spec in YAML or JSON; flags override it",
       .set = one_spec_file(options)},
      {.names = "--set",
       .value = "FIELD=VALUE",
       .help = "set a field by its name, over file and flags; may be given often",
       .known_values = field_assignments(),
       .set = assignment(options)},
      {.names = "--dry-run",
       .help = "check the spec, print it with every auto resolved, and stop",
       .set = turn_on(options.dry_run)},
      {.names = "--json", .help = "print the record as one JSON document", .set = turn_on(options.json)},
      {.names = "--progress",
       .value = "HOW",
       .help = "auto (default: a line on a terminal), bar, lines or none",
       .known_values = progress,
       .set = one_of(options.progress, progress)},
      {.names = "--store",
       .value = "DIR",
       .help = "where runs are kept (default: LOCKSTEP_STORE, else the XDG data directory)",
       .set = [&options](const std::string& typed) { options.store = typed; }},
      {.names = "--shared",
       .help = "let others into what is written, as far as the umask lets them (default: it is yours alone)",
       .set = turn_on(options.shared)},
      {.names = "--log-dir",
       .value = "DIR",
       .help = "keep every rank's log there (default: in the run's directory)",
       .set = path(options.log_directory)},
      {.names = "--join-timeout",
       .value = "TIME",
       .help = "limit for all ranks to arrive (default 120s)",
       .set = duration(options.join_timeout)},
      {.names = "--interface",
       .value = "NAME",
       .help = "network interface between hosts (default: the one towards rank 0)",
       .set = text(options.interface)},
  };
}

std::vector<Flag> identity_flags(comm::IdentityFlags& identity) {
  return {
      {.names = "--rank",
       .value = "RANK",
       .help = "be this rank of a run started by hand",
       .set = whole_number(identity.rank, 0)},
      {.names = "--world",
       .value = "N",
       .help = "with --rank: how many ranks there are",
       .set = whole_number(identity.world, 1)},
      {.names = "--master-addr",
       .value = "HOST",
       .help = "with --rank: where rank 0 listens",
       .set = text(identity.master_addr)},
      {.names = "--master-port",
       .value = "PORT",
       .help = "with --rank: its port",
       .set = port(identity.master_port)},
  };
}

void apply(record::RunSpec& spec, const std::vector<Assignment>& given, const char* origin) {
  for (const Assignment& one : given) record::set_field(spec, one.field, one.text, origin);
}

// batch_size and global_batch say one thing in two ways: whoever gives either replaces what was said below.
record::RunSpec overridden(const record::RunSpec& below, const std::vector<Assignment>& given,
                           const char* origin) {
  record::RunSpec spec = below;
  spec.batch_size.reset();
  spec.global_batch.reset();
  apply(spec, given, origin);
  if (spec.batch_size || spec.global_batch) return spec;
  spec = below;
  apply(spec, given, origin);
  return spec;
}

}  // namespace

std::vector<Flag> train_flags(TrainOptions& options) {
  std::vector<Flag> flags = request_flags(options);
  for (Flag& flag : identity_flags(options.identity)) flags.push_back(std::move(flag));
  for (const record::Field& field : record::spec_fields()) flags.push_back(flag_of(field, options));
  return flags;
}

record::RunSpec requested_spec(const TrainOptions& options) {
  record::RunSpec spec;
  if (!options.spec_file.empty()) spec = record::read_spec_file(options.spec_file);
  return overridden(overridden(spec, options.by_flag, "--"), options.by_set, "--set: ");
}

}  // namespace lockstep::cli
