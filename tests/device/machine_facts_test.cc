// The fingerprint of this machine and its form in the record.
#include "lockstep/device/machine_facts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"

namespace lockstep::device {
namespace {

TEST(MachineFacts, name_this_machine) {
  const record::Machine machine = machine_facts();
  EXPECT_FALSE(machine.host.empty());
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_bytes, 1U << 20);
  EXPECT_TRUE(machine.libraries.contains("hwloc"));
}

TEST(MachineFacts, survive_the_record) {
  record::Machine machine = machine_facts();
  machine.gpu = "NVIDIA H200";
  machine.slice_share = 0.25;
  EXPECT_EQ(nlohmann::json(machine).get<record::Machine>(), machine);
}

TEST(MachineFacts, leave_out_what_is_not_known) {
  const nlohmann::json json = record::Machine{};
  EXPECT_FALSE(json.contains("gpu"));
  EXPECT_FALSE(json.contains("slice_share"));
  EXPECT_FALSE(json.contains("cpu_quota"));
}

TEST(MachineFacts, a_record_without_a_field_is_refused_by_its_name) {
  nlohmann::json json = machine_facts();
  json.erase("cores");
  try {
    json.get<record::Machine>();
    FAIL() << "accepted a machine without cores";
  } catch (const base::DataError& error) {
    EXPECT_NE(std::string(error.what()).find("cores"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::device
