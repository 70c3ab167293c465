// The tables of a run's summary: epochs, steps, communication, ledger, memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "lockstep/base/units.h"
#include "lockstep/cli/text_table.h"
#include "lockstep/cli/train/live_status.h"
#include "lockstep/cli/train/summary.h"

namespace lockstep::cli {
namespace {

using record::RunRecord;

std::string titled(const Console& console, const std::string& title, const std::string& note) {
  return "\n" + console.styled(title, Tone::heading) + (note.empty() ? "" : "  " + note) + "\n";
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "";
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "";
}

std::string seconds_text(double seconds) {
  return base::format_duration(base::from_seconds(seconds));
}

std::string left_out_note(std::size_t left_out) {
  return left_out == 0 ? "" : fmt::format("(the first {} are in the record)", left_out);
}

// The spans of a step with their names, in the order in which they happen.
std::vector<std::pair<const char*, std::optional<double>>> spans_of(const record::SplitSeconds& split) {
  return {{"data", split.data},
          {"input", split.input},
          {"forward", split.forward},
          {"backward", split.backward},
          {"exposed communication", split.exposed_comm},
          {"optimizer", split.optimizer},
          {"other", split.other}};
}

std::string split_text(const record::StepFigures& steps, const Console& console) {
  if (!steps.split_seconds || !steps.seconds) return "";
  TextTable table({{"span", false}, {"mean"}, {"share"}});
  for (const auto& [name, seconds] : spans_of(*steps.split_seconds))
    if (seconds)
      table.add(
          {name, seconds_text(*seconds), fmt::format("{:.1f} %", 100 * *seconds / steps.seconds->mean)});
  return table.empty() ? "" : table.text(console);
}

// dp's primitives, in the order in which they happen.
std::string primitives_text(const record::StepFigures& steps, const Console& console) {
  if (!steps.primitives_seconds || !steps.seconds) return "";
  TextTable table({{"primitive", false}, {"mean"}, {"share"}});
  for (const char* name : {"replicate", "scatter", "apply", "gather", "reduce"}) {
    const auto found = steps.primitives_seconds->find(name);
    if (found == steps.primitives_seconds->end()) continue;
    table.add({name, seconds_text(found->second),
               fmt::format("{:.1f} %", 100 * found->second / steps.seconds->mean)});
  }
  return table.empty() ? "" : table.text(console);
}

// Of held-out samples, by every worker's own model: the mean, and what lies between the best and the worst.
std::string before_averaging_text(const record::EpochFigures& epoch) {
  if (!epoch.before_averaging || !epoch.before_averaging->val_loss) return "";
  std::vector<double> losses;
  for (const record::EpochRankFigures& rank : epoch.per_rank)
    if (rank.before_averaging && rank.before_averaging->val_loss)
      losses.push_back(*rank.before_averaging->val_loss);
  if (losses.empty()) return "";
  const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
  return fmt::format("val loss {:.4g} ({:.4g} to {:.4g})", *epoch.before_averaging->val_loss, *least, *most);
}

struct PurposeTotals {
  std::uint64_t payload_bytes = 0, wire_bytes = 0, messages = 0;
  bool wire_known = false, messages_known = false;
  bool estimated = false;
};

// Gradients of 32 bits that were sent as 16 have saved as much as they have cost.
std::string saving_text(const RunRecord& record, const std::string& purpose, const PurposeTotals& total) {
  const std::string compression = record.spec.value("compression", "none");
  if (purpose != "gradient" || compression == "none") return "";
  return fmt::format("as {}: {} B of payload, {} B of wire saved", compression,
                     with_commas(total.payload_bytes), with_commas(total.wire_bytes));
}

std::string note_text(const RunRecord& record, const std::string& purpose, const PurposeTotals& total) {
  const std::string saving = saving_text(record, purpose, total);
  if (!total.estimated) return saving;
  return saving.empty() ? "estimated" : "estimated; " + saving;
}

}  // namespace

std::string epochs_text(const RunRecord& record, const Console& console) {
  constexpr std::size_t kMost = 12;
  if (record.epochs.empty()) return "";
  const std::size_t first = record.epochs.size() > kMost ? record.epochs.size() - kMost : 0;
  TextTable table({{"epoch"},
                   {"seconds"},
                   {"train loss"},
                   {"train accuracy"},
                   {"val loss"},
                   {"val accuracy"},
                   {"val PSNR"},
                   {"before averaging"},
                   {"learning rate"}});
  for (std::size_t i = first; i < record.epochs.size(); ++i) {
    const record::EpochFigures& epoch = record.epochs[i];
    table.add({std::to_string(epoch.epoch) + (epoch.unfinished.value_or(false) ? " (unfinished)" : ""),
               fmt::format("{:.2f}", epoch.seconds), number(epoch.train_loss), percent(epoch.train_accuracy),
               number(epoch.val_loss), percent(epoch.val_accuracy),
               epoch.val_psnr ? fmt::format("{:.2f} dB", *epoch.val_psnr) : "", before_averaging_text(epoch),
               number(epoch.learning_rate)});
  }
  return titled(console, "Epochs", left_out_note(first)) + table.text(console);
}

std::string steps_text(const RunRecord& record, const Console& console) {
  const record::StepFigures& steps = record.steps;
  if (steps.count == 0) return "";
  std::string text = titled(console, "Steps",
                            fmt::format("{}, of them {} warm-up",
                                        with_commas(static_cast<std::uint64_t>(steps.count)), steps.warmup));
  if (const auto& times = steps.seconds) {
    text += "  median " + seconds_text(times->median);
    if (times->ci95.size() == 2)
      text += fmt::format(" [95 %: {}, {}]", seconds_text(times->ci95[0]), seconds_text(times->ci95[1]));
    text += "\n";
  }
  if (steps.samples_per_second)
    text += fmt::format("  {} samples/s of all workers", rounded_with_commas(*steps.samples_per_second));
  if (steps.flops_per_second) text += fmt::format(", {:.3g} GFLOP/s", *steps.flops_per_second / 1e9);
  if (steps.share_of_peak) text += fmt::format(" ({:.0f} % of peak)", 100 * *steps.share_of_peak);
  if (steps.samples_per_second) text += "\n";
  return text + split_text(steps, console) + primitives_text(steps, console);
}

std::string communication_text(const RunRecord& record, const Console& console) {
  std::vector<std::string> parts;
  const auto add = [&parts](const char* name, const std::optional<double>& seconds) {
    if (seconds) parts.push_back(fmt::format("{} {}", name, seconds_text(*seconds)));
  };
  add("busy", record.comm.busy_seconds);
  add("exposed", record.comm.exposed_seconds);
  add("peer wait", record.comm.peer_wait_seconds);
  if (record.comm.hidden_fraction)
    parts.push_back(fmt::format("hidden {:.0f} %", 100 * *record.comm.hidden_fraction));
  if (record.comm.bus_bandwidth)
    parts.push_back("bus bandwidth " + base::format_rate(*record.comm.bus_bandwidth));
  if (record.comm.control)
    parts.push_back(fmt::format("{} cycles of {} B in the run", with_commas(record.comm.control->cycles),
                                with_commas(record.comm.control->bytes_per_cycle)));
  if (parts.empty()) return "";
  return titled(console, "Communication", "per step, rank 0") + fmt::format("  {}\n", fmt::join(parts, ", "));
}

// A run that died told its totals at the end of an epoch for the last time.
std::string span_of_the_ledger(const RunRecord& record) {
  if (record.status == "finished" || record.status == "interrupted") return "the whole run, all ranks";
  const auto whole = std::count_if(record.epochs.begin(), record.epochs.end(),
                                   [](const auto& epoch) { return !epoch.unfinished.value_or(false); });
  return fmt::format("up to the end of epoch {}, the last whole one, all ranks", whole);
}

std::string ledger_text(const RunRecord& record, const Console& console) {
  if (record.ledger.empty()) return "";
  std::map<std::string, PurposeTotals> totals;
  for (const record::LedgerLine& line : record.ledger) {
    PurposeTotals& total = totals[line.purpose];
    total.payload_bytes += line.payload_bytes.value_or(0);
    total.wire_bytes += line.wire_bytes.value_or(0);
    total.messages += line.messages.value_or(0);
    total.messages_known |= line.messages.has_value();
    total.wire_known |= line.wire_bytes.has_value();
    total.estimated |= line.estimated.value_or(false);
  }
  TextTable table({{"purpose", false}, {"payload"}, {"wire"}, {"messages"}, {"", false}});
  for (const auto& [purpose, total] : totals)
    table.add({purpose, with_commas(total.payload_bytes) + " B",
               total.wire_known ? with_commas(total.wire_bytes) + " B" : "-",
               total.messages_known ? with_commas(total.messages) : "-", note_text(record, purpose, total)});
  return titled(console, "Ledger", span_of_the_ledger(record)) + table.text(console);
}

std::string memory_text(const RunRecord& record, const Console& console) {
  if (!record.memory) return "";
  constexpr std::array kUses = {"parameters",  "gradients",     "buckets", "optimizer",
                                "activations", "communication", "other"};
  std::vector<std::string> parts;
  for (const char* use : kUses)
    if (const auto found = record.memory->by_use.find(use);
        found != record.memory->by_use.end() && found->second > 0)
      parts.push_back(fmt::format("{} {}", use, base::format_bytes(found->second)));
  const std::string cap =
      record.memory->cap_bytes ? " of " + base::format_bytes(*record.memory->cap_bytes) + " allowed" : "";
  return titled(console, "Memory",
                "peak of the worst rank: " + base::format_bytes(record.memory->peak_bytes) + cap) +
         (parts.empty() ? "" : fmt::format("  {}\n", fmt::join(parts, ", ")));
}

}  // namespace lockstep::cli
