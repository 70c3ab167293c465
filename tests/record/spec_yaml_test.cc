#include "lockstep/record/spec_yaml.h"

#include <filesystem>
#include <fstream>

#include "tests/record/messages.h"

namespace lockstep::record {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string complaint(const std::string& yaml) {
  return complaint_of([&] { spec_from_yaml(yaml, "run.yaml"); });
}

TEST(SpecYaml, reads_a_flat_map_of_fields) {
  const RunSpec spec = spec_from_yaml(
      "model: vit\n"
      "model_options: {width: 8, depth: 4}\n"
      "global_batch: 64   # of all workers\n"
      "bucket-bytes: 4MiB\n"
      "nesterov: yes\n"
      "weights:\n",
      "run.yaml");
  EXPECT_EQ(spec.model, "vit");
  EXPECT_EQ(spec.model_options, (Options{{"width", 8}, {"depth", 4}}));
  EXPECT_EQ(spec.global_batch, 64);
  EXPECT_EQ(spec.bucket_bytes, Bytes{4 << 20});
  EXPECT_TRUE(spec.nesterov);
  EXPECT_FALSE(spec.weights.has_value());
}

TEST(SpecYaml, takes_an_empty_file_as_the_default_run) {
  EXPECT_EQ(spec_from_yaml("", "run.yaml"), RunSpec());
}

TEST(SpecYaml, says_where_a_field_is_unknown_or_its_value_bad) {
  EXPECT_THAT(complaint("model: vit\nbacth_size: 3\n"),
              StartsWith("run.yaml:2:1: there is no field 'bacth_size'"));
  EXPECT_EQ(complaint("model: vit\n\nbatch_size: many\n"),
            "run.yaml:3:1: batch_size is 'many': it must be a whole number.");
}

TEST(SpecYaml, reports_a_tab_as_a_tab) {
  EXPECT_EQ(complaint("model_options:\n\twidth: 8\n"),
            "run.yaml:2:1: a tab in the indentation; YAML allows only spaces there. Replace it by spaces.");
}

TEST(SpecYaml, refuses_what_is_not_a_map_a_field_given_twice_and_a_list) {
  EXPECT_THAT(complaint("- model\n"), HasSubstr("lines of 'field: value'"));
  EXPECT_THAT(complaint("seed: 1\nseed: 2\n"), StartsWith("run.yaml:2:1: seed is given twice"));
  EXPECT_THAT(complaint("seed: 1\nseed : 2\n"), HasSubstr("given twice"));
  EXPECT_THAT(complaint("model_options: {width: 8, width: 9}\n"), HasSubstr("width is given twice"));
  EXPECT_THAT(complaint("workers: [1, 2]\n"), HasSubstr("run.yaml:1:1: a list cannot be"));
  EXPECT_THAT(complaint("model: [vit\n"), HasSubstr("this is not YAML"));
}

TEST(SpecYaml, reads_a_file_of_either_kind_and_names_one_that_is_missing) {
  const auto dir = std::filesystem::temp_directory_path() / ("lockstep_spec_" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "a.yaml") << "seed: 7\n";
  std::ofstream(dir / "a.json") << R"({"seed": 7})";
  std::ofstream(dir / "b.json") << R"({"seed": )";
  std::ofstream(dir / "c.json") << R"({"seed": 7, "seed": 8})";
  EXPECT_EQ(read_spec_file(dir / "a.yaml"), read_spec_file(dir / "a.json"));
  EXPECT_THAT(complaint_of([&] { read_spec_file(dir / "b.json"); }),
              AllOf(HasSubstr("b.json:1:"), HasSubstr("this is not JSON: syntax error"),
                    Not(HasSubstr("exception"))));
  EXPECT_THAT(complaint_of([&] { read_spec_file(dir / "c.json"); }),
              HasSubstr("c.json: seed is given twice."));
  EXPECT_THAT(complaint_of([&] { read_spec_file(dir / "none.yaml"); }), HasSubstr("cannot be read"));
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace lockstep::record
