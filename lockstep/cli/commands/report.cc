#include "lockstep/cli/commands/report.h"

#include "lockstep/base/error.h"
#include "lockstep/cli/report/report_source.h"
#include "lockstep/cli/runs/named_records.h"
#include "lockstep/cli/setters.h"
#include "lockstep/lab/run_directory.h"

namespace lockstep::cli {

std::vector<Example> ReportCommand::examples() const {
  return {
      {"lockstep report batch-scaling -o report.html", "a study as one page that works offline"},
      {"lockstep report batch-scaling --explain", "in the terminal, with the fields each sentence rests on"},
      {"lockstep report 20260102T03 other.json --format md", "runs of the store and records from elsewhere"},
      {"lockstep report driving --only speedup -o speedup.svg", "one chart as a file"},
  };
}

std::vector<Flag> ReportCommand::flags() {
  return {{.names = "names",
           .value = "STUDY|RUN|FILE...",
           .help = "a study of the store, runs by id, files of records (.json, .jsonl) or a study's .yaml",
           .set = [this](const std::string& typed) { names_.push_back(typed); }},
          {.names = "--format",
           .value = "NAME",
           .help = "html, md, csv, latex, svg, json or term (default: from -o, else term)",
           .known_values = {std::begin(report::kFormats), std::end(report::kFormats)},
           .set = one_of(output_.format, {std::begin(report::kFormats), std::end(report::kFormats)})},
          {.names = "-o,--output",
           .value = "PATH",
           .help = "write there; a directory for csv and svg: a file for each table or chart",
           .set = [this](const std::string& typed) { output_.path = typed; }},
          {.names = "--only",
           .value = "NAME,...",
           .help = "these tables and charts alone, by the names that study files use",
           .list = true,
           .set = words(only_)},
          {.names = "--explain",
           .help = "show the fields that each sentence rests on",
           .set = turn_on(output_.explain)},
          {.names = "--store",
           .value = "DIR",
           .help = "where runs are kept (default: LOCKSTEP_STORE, else the XDG data directory)",
           .set = [this](const std::string& typed) { store_ = typed; }}};
}

int ReportCommand::run(const Invocation& invocation) {
  if (names_.empty())
    throw base::UsageError(
        "a report of what? lockstep report STUDY, RUN or FILE; `lockstep runs list` shows runs.");
  complete(output_);
  ReportSource source = find_report_source(store_of(store_, names_), names_);
  report::Source input{source.study ? &*source.study : nullptr, std::move(source.notes),
                       std::move(source.records)};
  write_report(report::build_report(std::move(input), {only_}), output_, invocation.console);
  return 0;
}

}  // namespace lockstep::cli
