#include "lockstep/record/spec.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "lockstep/record/spec_fields.h"
#include "tests/record/messages.h"

namespace lockstep::record {
namespace {

using ::testing::HasSubstr;

RunSpec with(const std::string& name, const std::string& text) {
  RunSpec spec;
  set_field(spec, name, text, "");
  return spec;
}

std::string complaint(const std::string& name, const std::string& text) {
  return complaint_of([&] { with(name, text); });
}

TEST(RunSpec, comes_back_from_its_json_unchanged) {
  RunSpec spec;
  spec.model = "vit";
  spec.model_options = {{"width", 8}, {"depth", 3}};
  spec.global_batch = 48;
  spec.device_memory = Bytes{512 << 20};
  spec.max_time = Seconds{90.5};
  spec.slice_share = Share{0.125};
  spec.nesterov = true;
  spec.learning_rate = 0.1;
  EXPECT_EQ(spec_from_json(to_json(spec), "test"), spec);
}

TEST(RunSpec, takes_every_field_from_its_default_written_as_text) {
  for (const Field& field : spec_fields()) {
    if (field.default_value.is_null() || field.kind == FieldKind::options) continue;
    const auto& value = field.default_value;
    const RunSpec spec = with(field.name, value.is_string() ? value.get<std::string>() : value.dump());
    EXPECT_EQ(spec, RunSpec()) << field.name;
  }
}

TEST(RunSpec, has_a_flag_and_help_for_every_field_and_no_name_twice) {
  std::set<std::string> flags;
  for (const Field& field : spec_fields()) {
    EXPECT_TRUE(flags.insert(field.flag()).second) << field.name;
    EXPECT_FALSE(help_text(field).empty()) << field.name;
    EXPECT_EQ(field.flag().find('_'), std::string::npos);
  }
}

TEST(RunSpec, reads_a_share_in_percent) {
  EXPECT_EQ(with("slice_share", "12.5%").slice_share->count, 0.125);
  EXPECT_EQ(with("slice_share", "0.25").slice_share->count, 0.25);
  EXPECT_EQ(complaint("slice_share", "an eighth"),
            "slice_share is 'an eighth': it must be a share, as in 12.5%.");
  EXPECT_FALSE(complaint("slice_share", "150%").empty());
}

TEST(RunSpec, takes_dash_and_underscore_spellings_of_a_name) {
  EXPECT_EQ(with("batch-size", "64").batch_size, 64);
  EXPECT_EQ(with("batch_size", "64").batch_size, 64);
}

TEST(RunSpec, reads_sizes_times_switches_and_options_as_people_write_them) {
  EXPECT_EQ(with("bucket-bytes", "4MiB").bucket_bytes, Bytes{4 << 20});
  EXPECT_EQ(with("max-time", "1.5m").max_time, Seconds{90});
  EXPECT_TRUE(with("nesterov", "on").nesterov);
  EXPECT_FALSE(with("measure", "off").measure);
  EXPECT_EQ(with("steps", "1e3").steps, 1000);
  EXPECT_EQ(with("model-options", "width=8, depth=4").model_options, (Options{{"width", 8}, {"depth", 4}}));
}

TEST(RunSpec, sets_one_option_by_its_dotted_name_and_keeps_the_others) {
  RunSpec spec = with("model_options", "width=8");
  set_field(spec, "model_options.depth", "4", "");
  EXPECT_EQ(spec.model_options, (Options{{"width", 8}, {"depth", 4}}));
  EXPECT_THAT(complaint("seed.x", "4"), HasSubstr("seed has no parts"));
}

TEST(RunSpec, unsets_an_optional_field_by_none) {
  RunSpec spec = with("batch_size", "64");
  set_field(spec, "batch_size", "none", "");
  EXPECT_FALSE(spec.batch_size.has_value());
}

TEST(RunSpec, names_the_field_the_value_and_the_nearest_good_one) {
  EXPECT_EQ(complaint("batch_size", "-4"), "batch_size is '-4': it must be at least 1; the nearest is 1.");
  EXPECT_EQ(complaint("batch_size", "2.4"),
            "batch_size is '2.4': it must be a whole number; the nearest is 2.");
  EXPECT_EQ(complaint("momentum", "9"), "momentum is '9': it must be between 0 and 1; the nearest is 1.");
  EXPECT_EQ(complaint("beta2", "-1"), "beta2 is '-1': it must be at least 0 and below 1; the nearest is 0.");
  EXPECT_EQ(complaint("learning_rate", "fast"), "learning_rate is 'fast': it must be a number.");
  EXPECT_EQ(complaint("optimizer", "adamw2"),
            "optimizer is 'adamw2': it must be one of sgd, adam, adamw. Did you mean 'adamw'?");
  EXPECT_EQ(complaint("bucket_bytes", "25 apples"),
            "bucket_bytes is '25 apples': it must be a size, as in 512MiB.");
}

TEST(RunSpec, refuses_decays_of_adam_that_never_forget) {
  for (const char* decay : {"beta1", "beta2"}) {
    EXPECT_EQ(complaint(decay, "1"), std::string(decay) + " is '1': it must be at least 0 and below 1.");
    EXPECT_EQ(complaint(decay, "0"), "(no complaint)");
  }
}

TEST(RunSpec, suggests_the_field_that_a_misspelt_name_meant) {
  EXPECT_THAT(complaint("bacth-size", "1"), HasSubstr("Did you mean 'batch_size'?"));
  EXPECT_THAT(complaint_of([] {
                spec_from_json({{"modle", "vit"}}, "spec.json");
              }),
              HasSubstr("spec.json: there is no field 'modle'"));
}

TEST(RunSpec, knows_models_data_and_trainable_shares_by_their_forms) {
  EXPECT_THAT(complaint("model", "resnet"), HasSubstr("Did you mean 'resnet18'?"));
  EXPECT_EQ(with("model", "mine.pt").model, "mine.pt");
  EXPECT_THAT(complaint("data", "folder"), HasSubstr("write folder:PATH"));
  EXPECT_THAT(complaint("data", "mnist:/tmp"), HasSubstr("mnist takes no path"));
  EXPECT_EQ(with("data", "folder:/x").data, "folder:/x");
  for (const char* good : {"all", "head", "last:3", "share:12.5%"})
    EXPECT_EQ(with("trainable", good).trainable, good);
  for (const char* bad : {"haed", "last:0", "last:x", "share:50", "share:101%"}) {
    EXPECT_THAT(complaint("trainable", bad), HasSubstr("trainable is '" + std::string(bad) + "'")) << bad;
  }
}

}  // namespace
}  // namespace lockstep::record
