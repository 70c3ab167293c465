#include "lockstep/record/record.h"

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/record/json_archive.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::record {
namespace {

constexpr std::int64_t kMostOfAnything = 1'000'000'000'000;  // workers, repeats, steps

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

using archive_detail::refuse;

bool has_kind(const nlohmann::json& value, FieldKind kind) {
  switch (kind) {
    case FieldKind::text:
      return value.is_string();
    case FieldKind::flag:
      return value.is_boolean();
    case FieldKind::integer:
    case FieldKind::bytes:
      return value.is_number_integer();
    case FieldKind::options:
      return value.is_object() && std::all_of(value.begin(), value.end(),
                                              [](const nlohmann::json& part) { return part.is_number(); });
    case FieldKind::number:
    case FieldKind::seconds:
    case FieldKind::share:
      return value.is_number();
  }
  return false;
}

// A spec is kept as it was stored, with fields that another version has; those of this version have their
// kind.
void check_spec(const nlohmann::json& spec) {
  if (!spec.is_object()) refuse("spec", "an object", spec);
  for (const Field& field : spec_fields()) {
    const auto value = spec.find(field.name);
    if (value == spec.end() || (field.optional && value->is_null())) continue;
    if (!has_kind(*value, field.kind))
      refuse("spec." + field.name, "of the kind that this field has", *value);
  }
}

void check_from(const char* field, std::int64_t least, std::int64_t value) {
  if (value < least || value > kMostOfAnything)
    refuse(field, fmt::format("a number from {} to {}", least, kMostOfAnything).c_str(), value);
}

void check_machine(const nlohmann::json& machine) {
  if (machine.is_null()) return;
  if (!machine.is_object()) refuse("machine", "an object", machine);
  using Kind = FieldKind;
  constexpr std::pair<const char*, Kind> kFacts[] = {
      {"host", Kind::text},        {"cpu", Kind::text},           {"gpu", Kind::text},
      {"cores", Kind::integer},    {"memory_bytes", Kind::bytes}, {"cpu_quota", Kind::number},
      {"slice_share", Kind::share}};
  for (const auto& [name, kind] : kFacts)
    if (const auto fact = machine.find(name); fact != machine.end() && !has_kind(*fact, kind))
      refuse(std::string("machine.") + name, "of another kind", *fact);
  check_from("machine.cores", 0,
             from_archive<int>(machine.value("cores", nlohmann::json(0)), "machine.cores"));
  from_archive<std::map<std::string, std::string>>(machine.value("libraries", nlohmann::json::object()),
                                                   "machine.libraries");
}

void check_name(const char* field, const std::string& name) {
  if (!base::is_plain_name(name)) refuse(field, "a name of letters, digits, '-', '_', '+' and '.'", name);
}

// What types cannot say: names that become directories, and counts.
void check_values(const RunRecord& record) {
  check_name("id", record.id);
  if (record.study) check_name("study", *record.study);
  check_spec(record.spec);
  check_machine(record.machine);
  check_from("repeat", 1, record.repeat.value_or(1));
  check_from("workers", 1, record.workers);
  check_from("local_world", 1, record.local_world.value_or(1));
  check_from("threads", 0, record.threads.value_or(0));
  check_from("batch.per_worker", 0, record.batch.per_worker);
  check_from("batch.global", 0, record.batch.global);
  check_from("steps.count", 0, record.steps.count);
  check_from("steps.warmup", 0, record.steps.warmup);
  check_from("steps.samples_every", 1, record.steps.samples_every.value_or(1));
  for (const EpochFigures& epoch : record.epochs) check_from("epochs.epoch", 0, epoch.epoch);
  for (const RankFigures& rank : record.per_rank) check_from("per_rank.rank", 0, rank.rank);
  for (const LedgerLine& line : record.ledger) check_from("ledger.rank", 0, line.rank);
}

}  // namespace

nlohmann::json to_json(const RunRecord& record) {
  return to_archive(record);
}

RunRecord record_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw base::StoreError("a record must be a JSON object.");
  check_schema(json);
  RunRecord record = from_archive<RunRecord>(json, "");
  check_values(record);
  return record;
}

}  // namespace lockstep::record
