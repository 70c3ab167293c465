#include "lockstep/record/spec_validate_torch.h"

#include <fmt/core.h>

#include "lockstep/base/units.h"
#include "lockstep/record/catalogue_parts.h"

namespace lockstep::record {
namespace {

using TorchRule = std::optional<Problem> (*)(const RunSpec&, const Combination&);

std::optional<Problem> recompute_is_ours(const RunSpec& spec, const Combination&) {
  if (!spec.recompute) return std::nullopt;
  return Problem{"recompute", "true",
                 "engine torch runs models as torchvision has them, without checkpointing",
                 "engine lockstep"};
}

std::optional<Problem> checkpoints_are_ours(const RunSpec& spec, const Combination&) {
  const auto refused = [](const char* field, std::string value) {
    return Problem{field, std::move(value), "engine torch keeps no checkpoints",
                   fmt::format("engine lockstep, or no {}", field)};
  };
  if (spec.resume) return refused("resume", *spec.resume);
  if (spec.checkpoint_epochs) return refused("checkpoint_epochs", std::to_string(*spec.checkpoint_epochs));
  if (spec.checkpoint_time)
    return refused("checkpoint_time", fmt::format("{:g}s", spec.checkpoint_time->count));
  return std::nullopt;
}

std::optional<Problem> traces_are_ours(const RunSpec& spec, const Combination&) {
  if (!spec.trace) return std::nullopt;
  return Problem{"trace", *spec.trace, "engine torch writes no trace", "engine lockstep, or no trace"};
}

std::optional<Problem> ddp_always_overlaps(const RunSpec& spec, const Combination& run) {
  if (spec.overlap != "off" || run.strategy != "ddp") return std::nullopt;
  return Problem{"overlap", spec.overlap, "PyTorch's DistributedDataParallel always overlaps", "overlap on"};
}

std::optional<Problem> cores_have_no_cap(const RunSpec& spec, const Combination& run) {
  if (!spec.device_memory || run.device != "cpu") return std::nullopt;
  return Problem{"device_memory", base::format_bytes(spec.device_memory->count),
                 "PyTorch has no memory cap on the CPU", "engine lockstep, or device cuda"};
}

std::optional<Problem> divided_weights_are_not_written(const RunSpec& spec, const Combination& run) {
  if (!spec.export_weights || run.strategy != "zero3") return std::nullopt;
  return Problem{"export_weights", *spec.export_weights,
                 "with strategy zero3 the weights are divided among the workers", "strategy ddp"};
}

// Of a user's file only the engine learns whether it has batch norms.
std::optional<Problem> ddp_has_these_buffers(const RunSpec& spec, const Combination& run) {
  const ModelParts* parts = parts_of(spec);
  if (run.strategy != "ddp" || parts == nullptr || !parts->has_batch_norms) return std::nullopt;
  if (spec.buffers == "average")
    return Problem{"buffers", spec.buffers, "PyTorch's DistributedDataParallel does not average buffers",
                   "buffers broadcast"};
  if (spec.buffers == "sync" && run.device != "cuda")
    return Problem{"buffers", spec.buffers,
                   fmt::format("PyTorch's SyncBatchNorm needs GPUs, and device is {}", run.device),
                   "buffers broadcast"};
  return std::nullopt;
}

// Whether a PyTorch's gloo has the type depends on its version, which is not known here; that of 1.13 has
// not.
std::optional<Problem> gloo_lacks_bf16(const RunSpec& spec, const Combination& run) {
  if (spec.compression != "bf16" || run.strategy != "ddp" || run.backend != "gloo") return std::nullopt;
  return Problem{"compression", spec.compression, "PyTorch's gloo does not reduce bf16",
                 run.device == "cuda" ? "compression f16, or backend nccl" : "compression f16"};
}

constexpr TorchRule kTorchRules[] = {recompute_is_ours,     checkpoints_are_ours,
                                     traces_are_ours,       ddp_always_overlaps,
                                     cores_have_no_cap,     divided_weights_are_not_written,
                                     ddp_has_these_buffers, gloo_lacks_bf16};

}  // namespace

std::vector<Problem> torch_problems(const RunSpec& spec, const Combination& run) {
  std::vector<Problem> problems;
  if (spec.engine != "torch") return problems;
  for (const TorchRule rule : kTorchRules) {
    if (auto problem = rule(spec, run)) problems.push_back(std::move(*problem));
  }
  return problems;
}

}  // namespace lockstep::record
