#include "lockstep/cli/bench/bench_conclusion.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/cli/bench/bench_json.h"
#include "lockstep/cli/bench/bench_table.h"
#include "lockstep/cli/version.h"
#include "lockstep/measure/whole_file.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

// A file is written beside its place and moved there; into a device or a pipe it is written as it is.
bool takes_a_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::directory) return false;
  if (type != fs::file_type::not_found && type != fs::file_type::regular && type != fs::file_type::none)
    return ::access(path.c_str(), W_OK) == 0;
  const fs::path directory = path.has_parent_path() ? path.parent_path() : ".";
  return fs::is_directory(directory, ignored) && ::access(directory.c_str(), W_OK | X_OK) == 0;
}

// Whether anybody took it.
bool print(const std::string& text, const Console& console) {
  try {
    console.print(text);
    return true;
  } catch (const ReaderGone&) {
    return false;
  }
}

}  // namespace

void require_place_for(const std::filesystem::path& json_file) {
  if (json_file.empty() || takes_a_file(json_file)) return;
  throw base::StoreError(fmt::format("--json-file {}: no file can be written there.", json_file.string()));
}

void conclude_bench(const BenchOptions& options, BenchReport report, const std::string& rank_source,
                    const Console& console) {
  report.version = version();
  report.rank_source = rank_source;
  const std::string document = base::json_text(bench_json(report), 2) + "\n";
  const bool printed = print(options.json ? document : bench_table(report), console);
  if (!options.json_file.empty())
    measure::write_whole_file(options.json_file, [&](std::ostream& out) { out << document; });
  require_right(report);
  if (options.min_busbw) require_fast(report, *options.min_busbw);
  if (!printed) throw ReaderGone();
}

}  // namespace lockstep::cli
