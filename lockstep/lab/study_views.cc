#include "lockstep/lab/study_views.h"

#include <array>

namespace lockstep::lab {
namespace {

constexpr std::array<StudyView, 17> kTables = {{
    {"summary", "every cell: status, repeats, step time, samples per second, loss, quality"},
    {"scaling", "speedup and efficiency against one worker, weak and strong apart"},
    {"throughput", "samples per second by batch and workers, with the knee"},
    {"split", "where the time of a step went"},
    {"bytes", "payload and wire bytes by purpose"},
    {"messages", "every message by purpose, collective and link"},
    {"exposure", "communication: busy, exposed, hidden, peer wait"},
    {"bandwidth", "algorithm and bus bandwidth against the link's peak and the ring formula"},
    {"quality", "loss, accuracy, MSE or PSNR at the end"},
    {"averaging", "validation before and after the ranks' weights were averaged (localsgd)"},
    {"targets", "epochs and seconds until a target"},
    {"memory", "peak memory by use, against the cap"},
    {"minutes", "whole-job minutes by part, and final loss, by workers"},
    {"axes", "computation, communication, bytes and loss against each axis"},
    {"primitives", "dp's primitives apart: replicate, scatter, apply, gather, reduce"},
    {"published", "what others published, beside ours"},
    {"projection", "the largest count predicted from the others, and twice as many"},
}};

constexpr std::array<StudyView, 17> kCharts = {{
    {"speedup", "speedup against the ideal, weak and strong apart"},
    {"efficiency", "efficiency against one worker"},
    {"throughput", "samples per second by batch and workers, with the knee"},
    {"split", "the stacked split of the step"},
    {"bytes", "bytes by purpose, payload and wire"},
    {"exposure", "exposed, hidden and peer-wait time"},
    {"bandwidth", "bandwidth against the link's peak and the ring formula"},
    {"loss-by-epoch", "training and validation loss by epoch"},
    {"loss-by-second", "training and validation loss by second"},
    {"loss-by-rank", "loss of every rank by epoch"},
    {"accuracy", "accuracy by epoch"},
    {"psnr", "PSNR by epoch"},
    {"targets", "epochs and seconds until a target"},
    {"memory", "memory by use against the cap"},
    {"utilisation", "utilisation of the device over time"},
    {"minutes", "whole-job minutes and final loss by workers"},
    {"axes", "computation, communication, bytes and loss against each axis"},
}};

}  // namespace

std::span<const StudyView> study_tables() {
  return kTables;
}
std::span<const StudyView> study_charts() {
  return kCharts;
}

std::vector<std::string> names_of(std::span<const StudyView> views) {
  std::vector<std::string> names;
  for (const StudyView& view : views) names.emplace_back(view.name);
  return names;
}

}  // namespace lockstep::lab
