// Tests of the canonical form of a spec and of its hash.
#include <nlohmann/json.hpp>

#include "lockstep/base/sha256.h"
#include "lockstep/record/canonical_json.h"
#include "lockstep/record/spec.h"
#include "tests/record/messages.h"

namespace lockstep::record {
namespace {

TEST(CanonicalJson, has_one_form_for_equal_numbers) {
  using Json = nlohmann::json;
  EXPECT_EQ(canonical_text(Json(1.0)), "1");
  EXPECT_EQ(canonical_text(Json(1)), "1");
  EXPECT_EQ(canonical_text(Json(-0.0)), "0");
  EXPECT_EQ(canonical_text(Json(0.1)), "0.1");
  EXPECT_EQ(canonical_text(Json(1e-8)), "1e-08");
  EXPECT_EQ(canonical_text(Json::parse(R"({"b": [1.50, true], "a": "x\"y"})")),
            R"({"a":"x\"y","b":[1.5,true]})");
}

TEST(SpecHash, is_the_digest_of_what_differs_from_the_defaults) {
  RunSpec spec;
  EXPECT_EQ(canonical_json(spec), "{}");
  spec.workers = 2;
  spec.model = "vit";
  EXPECT_EQ(canonical_json(spec), R"({"model":"vit","workers":2})");
  EXPECT_EQ(spec_hash(spec), base::sha256_hex(R"({"model":"vit","workers":2})"));
}

TEST(SpecHash, does_not_depend_on_how_a_value_was_written) {
  RunSpec one, other;
  set_field(one, "bucket_bytes", "4MiB", "");
  set_field(other, "bucket-bytes", "4194304", "");
  set_field(one, "learning_rate", "0.10", "");
  set_field(other, "learning_rate", "1e-1", "");
  EXPECT_EQ(spec_hash(one), spec_hash(other));
}

TEST(SpecHash, ignores_where_files_lie_and_how_long_to_wait) {
  RunSpec spec;
  spec.data_dir = "/somewhere";
  spec.trace = "trace.json";
  spec.timeout = Seconds{5};
  EXPECT_EQ(spec_hash(spec), spec_hash(RunSpec()));
}

TEST(SpecHash, changes_with_the_seed) {
  RunSpec spec;
  spec.seed = 2;
  EXPECT_NE(spec_hash(spec), spec_hash(RunSpec()));
}

}  // namespace
}  // namespace lockstep::record
