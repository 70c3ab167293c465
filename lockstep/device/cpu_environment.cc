#include "lockstep/device/cpu_environment.h"

namespace lockstep::device {
namespace {

using Variables = std::map<std::string, std::string>;

// A user's OMP_NUM_THREADS rules the other libraries too: they read it when their own variable is absent.
void add_thread_counts(const CpuEnvironmentFacts& facts, Variables& variables) {
  if (facts.user_set.contains("OMP_NUM_THREADS") && !facts.threads_were_asked) return;
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    variables[name] = std::to_string(facts.threads);
}

// OpenBLAS takes processors it does not know by name for a thirty-year-old one and is then 5 times slower.
void add_blas_core_type(const CpuFeatures& features, Variables& variables) {
  if (features.avx512)
    variables["OPENBLAS_CORETYPE"] = "SkylakeX";
  else if (features.avx2)
    variables["OPENBLAS_CORETYPE"] = "Haswell";
}

// OMP_PROC_BIND: the worker is pinned as a whole. Threads pinned one by one would make the communication
// thread inherit the first thread's single core and compete with it. OMP_WAIT_POLICY: a thread that spins on
// a shared core takes it from the one it waits for. GOMP_SPINCOUNT: so it does where another program has one
// of the worker's cores for a moment, and with libgomp's own count steps then took 100 times as long; this
// one spans the pauses between two parts of a step, and is as fast on a quiet machine.
void add_thread_manners(const CpuEnvironmentFacts& facts, Variables& variables) {
  variables["OMP_PROC_BIND"] = "false";
  if (facts.oversubscribed)
    variables["OMP_WAIT_POLICY"] = "passive";
  else if (facts.threads > 1)
    variables["GOMP_SPINCOUNT"] = "5000";
}

}  // namespace

std::map<std::string, std::string> cpu_environment(const CpuEnvironmentFacts& facts) {
  Variables defaults;
  add_blas_core_type(facts.features, defaults);
  if (facts.features.amx_unusable) defaults["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_BF16";
  add_thread_manners(facts, defaults);
  if (!facts.threads_were_asked) add_thread_counts(facts, defaults);
  for (const std::string& name : facts.user_set) defaults.erase(name);
  if (facts.threads_were_asked) add_thread_counts(facts, defaults);
  return defaults;
}

}  // namespace lockstep::device
