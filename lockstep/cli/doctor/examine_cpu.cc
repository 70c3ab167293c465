// The doctor's look at cores and memory.
#include <fmt/format.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/units.h"
#include "lockstep/cli/doctor/finding.h"
#include "lockstep/device/cpu_environment.h"
#include "lockstep/device/cpu_features.h"
#include "lockstep/device/machine_facts.h"

namespace lockstep::cli {
namespace {

constexpr const char* kArea = "machine";

std::string feature_text(const device::CpuFeatures& features) {
  std::string text = features.avx512 ? "AVX-512" : features.avx2 ? "AVX2" : "neither AVX2 nor AVX-512";
  if (features.amx_unusable) text += ", AMX advertised but unusable";
  return text;
}

std::string environment_text(const device::CpuFeatures& features) {
  if (const auto set = base::environment("OPENBLAS_CORETYPE"))
    return "OPENBLAS_CORETYPE=" + *set + " (set by you)";
  device::CpuEnvironmentFacts facts;
  facts.features = features;
  const auto variables = device::cpu_environment(facts);
  const auto found = variables.find("OPENBLAS_CORETYPE");
  return found == variables.end() ? "OPENBLAS_CORETYPE left alone"
                                  : "workers get OPENBLAS_CORETYPE=" + found->second;
}

Finding quota_finding(const record::Machine& machine) {
  if (!machine.cpu_quota) return {kArea, "quota", Health::ok, "no control group limits time on the cores"};
  const bool tight = *machine.cpu_quota < machine.cores;
  return {
      kArea, "quota", Health::ok,
      fmt::format("a control group grants {:.2f} cores' worth of time", *machine.cpu_quota),
      tight
          ? "Use no more workers times threads than that: more are stopped now and then, and timings show it."
          : ""};
}

}  // namespace

Findings examine_cpu() {
  const record::Machine machine = device::machine_facts();
  const device::CpuFeatures features = device::cpu_features();
  return {
      {kArea, "cores", Health::ok, fmt::format("{} usable, {}", machine.cores, machine.cpu)},
      quota_finding(machine),
      {kArea, "memory", Health::ok, base::format_bytes(machine.memory_bytes) + " usable"},
      {kArea, "instructions", Health::ok, feature_text(features) + "; " + environment_text(features)},
  };
}

}  // namespace lockstep::cli
