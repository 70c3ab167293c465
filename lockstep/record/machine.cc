#include "lockstep/record/machine.h"

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"

namespace lockstep::record {
namespace {

template <typename Value>
void write_known(nlohmann::json& json, const char* field, const std::optional<Value>& value) {
  if (value) json[field] = *value;
}

template <typename Value>
void read_known(const nlohmann::json& json, const char* field, std::optional<Value>& value) {
  if (const auto found = json.find(field); found != json.end() && !found->is_null())
    value = found->get<Value>();
}

void read_fields(const nlohmann::json& json, Machine& machine) {
  json.at("host").get_to(machine.host);
  json.at("cpu").get_to(machine.cpu);
  json.at("cores").get_to(machine.cores);
  json.at("memory_bytes").get_to(machine.memory_bytes);
  read_known(json, "cpu_quota", machine.cpu_quota);
  read_known(json, "gpu", machine.gpu);
  read_known(json, "slice_share", machine.slice_share);
  machine.libraries = json.value("libraries", std::map<std::string, std::string>());
}

}  // namespace

void to_json(nlohmann::json& json, const Machine& machine) {
  json = nlohmann::json{{"host", machine.host},
                        {"cpu", machine.cpu},
                        {"cores", machine.cores},
                        {"memory_bytes", machine.memory_bytes},
                        {"libraries", machine.libraries}};
  write_known(json, "cpu_quota", machine.cpu_quota);
  write_known(json, "gpu", machine.gpu);
  write_known(json, "slice_share", machine.slice_share);
}

void from_json(const nlohmann::json& json, Machine& machine) {
  try {
    read_fields(json, machine);
  } catch (const nlohmann::json::exception& error) {
    throw base::DataError(std::string("the record's \"machine\" cannot be read: ") + error.what());
  }
}

}  // namespace lockstep::record
