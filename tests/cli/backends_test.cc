#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lockstep/comm/registry.h"
#include "lockstep/record/catalogue.h"
#include "tests/cli/program_run.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> catalogue_names() {
  std::vector<std::string> names;
  for (const record::BackendEntry& entry : record::backend_entries()) names.emplace_back(entry.name);
  return names;
}

TEST(Backends, the_catalogue_lists_what_really_registers) {
  EXPECT_EQ(comm::Registry("/nonexistent").names(), catalogue_names());
}

TEST(Backends, prints_one_json_document_with_a_reason_for_each_that_is_absent) {
  const ProgramRun run = run_lockstep("backends --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  std::vector<std::string> names;
  for (const auto& backend : json["backends"]) {
    names.push_back(backend["name"]);
    if (!backend["available"].get<bool>())
      EXPECT_FALSE(backend["detail"].get<std::string>().empty()) << backend;
  }
  EXPECT_EQ(names, catalogue_names());
}

TEST(Backends, a_plugin_that_is_not_there_is_listed_with_the_file_that_is_missing) {
  const ProgramRun run = run_shell("LOCKSTEP_PLUGIN_DIR=/nonexistent " + program() + " backends");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("/nonexistent/backend_gloo.so does not exist"));
}

TEST(Backends, bench_refuses_an_absent_backend_before_anything_starts) {
  const ProgramRun run =
      run_shell("LOCKSTEP_PLUGIN_DIR=/nonexistent " + program() + " bench allreduce --backend shm,gloo");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_TRUE(run.out.empty());
  EXPECT_THAT(run.err, HasSubstr("error: backend gloo cannot be used here"));
}

}  // namespace
}  // namespace lockstep::testing
