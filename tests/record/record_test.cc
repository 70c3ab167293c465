#include "lockstep/record/record.h"

#include "tests/record/messages.h"

namespace lockstep::record {
namespace {

using ::testing::HasSubstr;

RunRecord full_record() {
  RunRecord record;
  record.id = "20260102-030405-abcd";
  record.spec = to_json(RunSpec());
  record.spec_hash = spec_hash(RunSpec());
  record.study = "batch-by-workers";
  record.cell = "c7";
  record.repeat = 2;
  record.started_at = "2026-01-02T03:04:05Z";
  record.version = "0.1.0";
  record.engine = "lockstep";
  record.machine = {{"host", "a"}, {"cores", 2}};
  record.status = "failed";
  record.wall_seconds = {0.1, 0.2, 0.3, {}, 0.9};
  record.batch = {32, 64};
  record.workers = 2;
  const QualityFigures before{0.9, 0.6, {}};
  record.epochs = {{1, 2.5, 0.7, 0.8, {}, {}, {}, 0.01, before, true, {{0, 0.7, {}, {}, {}, {}, before}}}};
  record.steps.seconds = TimeStatistics{0.1, 0.11, 0.09, 0.2, {0.09, 0.12}};
  record.steps.samples = {0.1, 0.2};
  record.comm.buckets = std::vector<BucketTimes>{{1 << 20, 0.1, 0.1, 0.2}};
  record.ledger = {{0, "gradient", "all_reduce", "shm", 1, 2, 3, 0.5, {}}};
  record.memory = MemoryFigures{10, {{"parameters", 10}}, 100};
  record.utilization = UtilizationFigures{50, {40, 60}};
  record.per_rank.resize(2);
  record.target = TargetFigures{"train_loss", 0.04, {}, {}};
  record.warnings = {"careful"};
  record.failure = FailureFigures{1, "CommError", "rank 0 is gone"};
  return record;
}

TEST(RunRecord, comes_back_from_its_json_unchanged) {
  EXPECT_EQ(record_from_json(to_json(full_record())), full_record());
  EXPECT_EQ(record_from_json(nlohmann::json::parse(to_json(full_record()).dump())), full_record());
}

TEST(RunRecord, has_the_top_level_fields_of_schema_one) {
  const nlohmann::json json = to_json(full_record());
  for (const char* name :
       {"schema",   "id",     "spec_hash", "study",   "cell",   "repeat",       "started_at",
        "version",  "engine", "spec",      "machine", "status", "wall_seconds", "batch",
        "workers",  "epochs", "steps",     "comm",    "ledger", "memory",       "utilization",
        "per_rank", "target", "warnings",  "failure"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  EXPECT_EQ(json["schema"], 1);
}

TEST(RunRecord, leaves_out_what_was_not_measured) {
  const nlohmann::json json = to_json(RunRecord());
  EXPECT_FALSE(json.contains("memory"));
  EXPECT_FALSE(json.contains("failure"));
  EXPECT_TRUE(json["comm"].empty());
  EXPECT_FALSE(json["steps"].contains("samples_per_second"));
}

TEST(RunRecord, of_a_higher_schema_is_refused_by_number) {
  nlohmann::json json = to_json(full_record());
  json["schema"] = 2;
  EXPECT_THAT(complaint_of([&] { record_from_json(json); }),
              HasSubstr("schema 2, and this version of Lockstep reads up to schema 1"));
}

TEST(RunRecord, with_unknown_fields_is_read_without_them) {
  nlohmann::json json = to_json(full_record());
  json["mood"] = "good";
  EXPECT_EQ(record_from_json(json), full_record());
}

TEST(RunRecord, with_a_value_of_another_kind_is_refused_with_its_place) {
  const std::pair<const char*, nlohmann::json> wrong[] = {{"spec", 5},
                                                          {"spec/model", 5},
                                                          {"spec/epochs", "many"},
                                                          {"machine", "a host"},
                                                          {"id", "../x"},
                                                          {"study", "a/b"},
                                                          {"workers", 0},
                                                          {"workers", 1ull << 40},
                                                          {"repeat", -1},
                                                          {"batch/global", -1},
                                                          {"per_rank/0/rank", -1},
                                                          {"ledger/0/rank", 1ll << 33},
                                                          {"epochs/0/epoch", 18446744073709551615ull}};
  for (const auto& [place, value] : wrong) {
    nlohmann::json json = to_json(full_record());
    json[nlohmann::json::json_pointer(std::string("/") + place)] = value;
    const std::string field = std::string(place).substr(0, std::string(place).find('/'));
    EXPECT_THAT(complaint_of([&] { record_from_json(json); }), ::testing::StartsWith(field)) << place;
  }
}

TEST(RunRecord, that_is_damaged_is_refused_with_the_field) {
  nlohmann::json json = to_json(full_record());
  json["ledger"][0]["rank"] = "zero";
  EXPECT_THAT(complaint_of([&] { record_from_json(json); }),
              HasSubstr("ledger[0].rank should be a whole number"));
  json.erase("ledger");
  EXPECT_THAT(complaint_of([&] { record_from_json(json); }), HasSubstr("ledger is missing"));
}

}  // namespace
}  // namespace lockstep::record
