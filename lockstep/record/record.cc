#include "lockstep/record/record.h"

#include "lockstep/record/json_archive.h"

namespace lockstep::record {
namespace {

void check_schema(const nlohmann::json& json) {
  int schema = 0;
  JsonReader(json, "")("schema", schema);
  if (schema > kRecordSchema) {
    throw base::StoreError(
        fmt::format("this record has schema {}, and this version of Lockstep reads up to schema {}: read it "
                    "with a newer one.",
                    schema, kRecordSchema));
  }
  if (schema < 1)
    throw base::StoreError(fmt::format("this record has schema {}; the first one was 1.", schema));
}

}  // namespace

nlohmann::json to_json(const RunRecord& record) {
  return to_archive(record);
}

RunRecord record_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw base::StoreError("a record must be a JSON object.");
  check_schema(json);
  return from_archive<RunRecord>(json, "");
}

}  // namespace lockstep::record
