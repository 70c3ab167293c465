// Writes sample reports of records made by hand into a folder: what the web test opens.
#include <filesystem>
#include <fstream>

#include "lockstep/report/formats/formats.h"
#include "tests/report/made_records.h"

namespace {

using namespace lockstep::report;

void write(const std::filesystem::path& folder, const std::string& name, const Report& report) {
  std::ofstream(folder / (name + ".html")) << html_of(report, {});
  std::ofstream(folder / (name + ".json")) << json_of(report);
  std::ofstream(folder / (name + ".tex")) << latex_of(report);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  const lockstep::lab::Study study = published_study();
  write(folder, "rich", report_of(rich_records(false)));
  write(folder, "machines", report_of(rich_records(true)));
  write(folder, "single", report_of({made_run({.workers = 2})}));
  write(folder, "study", report_of(published_records(), &study));
  return 0;
}
