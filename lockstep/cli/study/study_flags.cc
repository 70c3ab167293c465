// The flags of `lockstep study`.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/study/study_files.h"
#include "lockstep/cli/study/study_options.h"
#include "lockstep/lab/study_settings.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::cli {
namespace {

Setter setting(StudyRequest& request) {
  return [&request](const std::string& typed) {
    const auto equals = typed.find('=');
    if (equals == std::string::npos)
      throw base::UsageError(fmt::format("'{}' is not KEY=VALUE, such as workers=1,2,4.", typed));
    std::string field = typed.substr(0, equals);
    std::replace(field.begin(), field.end(), '-', '_');
    request.choice.sets.push_back({field, typed.substr(equals + 1), lab::kSetPlace});
  };
}

std::vector<std::string> settable() {
  std::vector<std::string> words = {"repeats="};
  for (const std::string& field : record::spec_field_names()) words.push_back(field + "=");
  return words;
}

}  // namespace

std::vector<Flag> study_flags(StudyRequest& request) {
  const std::vector<std::string> progress = {"auto", "bar", "lines", "none"};
  return {
      {.names = "study",
       .value = "[FILE|NAME]",
       .help = "a study file, or the name of a built-in study",
       .known_values = builtin_names(),
       .set = text(request.name)},
      {.names = "--list", .help = "the built-in studies and what they answer", .set = turn_on(request.list)},
      {.names = "--quick",
       .help = "the study's quick variant: fewer samples, steps and repeats, and it says so",
       .set = turn_on(request.choice.quick)},
      {.names = "--set",
       .value = "KEY=VALUE",
       .help = "set a field of every cell, the values of an axis (workers=1,2,4) or the repeats; may be "
               "given often",
       .known_values = settable(),
       .set = setting(request)},
      {.names = "--dry-run",
       .help = "check everything, list the cells in their order with an estimate, and stop",
       .set = turn_on(request.dry_run)},
      {.names = "--resume", .help = "go on where an earlier sitting ended", .set = turn_on(request.resume)},
      {.names = "--fresh",
       .help = "remove this study's earlier runs, of every version of it, from the store and begin anew",
       .set = turn_on(request.fresh)},
      {.names = "--budget",
       .value = "TIME",
       .help = "start no run after this time, as in 30m (default: the study's own)",
       .set = duration(request.budget)},
      {.names = "--progress",
       .value = "HOW",
       .help = "auto (default: a line on a terminal), bar, lines or none",
       .known_values = progress,
       .set = one_of(request.progress, progress)},
      {.names = "--json", .help = "print one JSON document", .set = turn_on(request.json)},
      {.names = "--store",
       .value = "DIR",
       .help = "where runs are kept (default: LOCKSTEP_STORE, else the XDG data directory)",
       .set = [&request](const std::string& typed) { request.store = typed; }},
      {.names = "--interface",
       .value = "NAME",
       .help = "network interface between hosts (default: the one towards rank 0)",
       .set = text(request.interface)},
      {.names = "--shared",
       .help = "let others into what is written, as far as the umask lets them (default: it is yours alone)",
       .set = turn_on(request.shared)},
  };
}

}  // namespace lockstep::cli
