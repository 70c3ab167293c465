#include "lockstep/cli/commands/strategies.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/version.h"
#include "lockstep/record/catalogue.h"
#include "lockstep/record/catalogue_rules.h"
#include "lockstep/record/catalogue_strategies.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t kTextWidth = 100;
constexpr std::size_t kIndent = 10;

bool works_over(const record::StrategyEntry& strategy, const record::BackendEntry& backend) {
  record::Combination run;
  run.engine = "lockstep";
  run.model = "lenet5";
  run.data = "fashion-mnist";
  run.strategy = strategy.name;
  run.backend = backend.name;
  run.device = backend.name == "nccl" || backend.name == "p2p" ? "cuda" : "cpu";
  run.workers = 2;
  for (const record::Problem& problem : record::problems_of(run))
    if (problem.field == "backend" || problem.field == "device") return false;
  return true;
}

std::vector<std::string> backends_of(const record::StrategyEntry& strategy) {
  std::vector<std::string> names;
  if (strategy.name == "single") return names;
  for (const record::BackendEntry& backend : record::backend_entries())
    if (works_over(strategy, backend)) names.emplace_back(backend.name);
  return names;
}

std::vector<std::string> engines_of(const record::StrategyEntry& strategy) {
  std::vector<std::string> names;
  if (strategy.in_lockstep) names.emplace_back("lockstep");
  if (strategy.in_torch) names.emplace_back("torch");
  return names;
}

// Breaks a line between words; lines after the first begin under it.
std::string wrapped(std::string_view text) {
  std::string lines;
  std::size_t column = kIndent;
  for (const std::string& word : base::split(std::string(text), ' ')) {
    if (column > kIndent && column + word.size() > kTextWidth) {
      lines.back() = '\n';
      lines += std::string(kIndent, ' ');
      column = kIndent;
    }
    lines += word + " ";
    column += word.size() + 1;
  }
  lines.pop_back();
  return lines;
}

std::string field(const Console& console, std::string_view name, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("  {} {}\n", console.styled(fmt::format("{:<{}}", name, kIndent - 3), Tone::quiet),
                     wrapped(value));
}

std::string text_of(const record::StrategyEntry& strategy, const Console& console) {
  std::string text = console.styled(strategy.name, Tone::heading) + "\n";
  for (const std::string& line : base::split(std::string(strategy.explanation), '\n'))
    text += "  " + line + "\n";
  text += field(console, "sends", std::string(strategy.sends));
  text += field(console, "keeps", std::string(strategy.keeps));
  text += field(console, "over", base::join(backends_of(strategy), ", "));
  text += field(console, "engine", base::join(engines_of(strategy), ", "));
  return text + "\n";
}

std::string text_of_all(const Console& console) {
  std::string text;
  for (const record::StrategyEntry& strategy : record::strategy_entries()) text += text_of(strategy, console);
  return text +
         "P: bytes of the trained parameters (W: of all); B: of the model's buffers; N: workers; K: tensors "
         "of\n"
         "optimiser state per parameter (sgd with momentum 1, adam 2); A: activations of a worker's share of "
         "the\n"
         "batch. Payload bytes, counted once per collective; what a rank puts on the wire is in the ledger "
         "that\n"
         "`lockstep train` prints. A check (check_every) compares the replicas; the metric is 8 bytes in "
         "f64, and\n"
         "32 N besides for each epoch and each validation, which begins with buffer B. The\n"
         "ledger's input is the batch where it enters a worker's device: besides dp's, no link carries it.\n";
}

nlohmann::ordered_json json_of_all() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const record::StrategyEntry& strategy : record::strategy_entries())
    list.push_back({{"name", strategy.name},
                    {"description", strategy.description},
                    {"explanation", strategy.explanation},
                    {"sends", strategy.sends},
                    {"keeps", strategy.keeps},
                    {"backends", backends_of(strategy)},
                    {"engines", engines_of(strategy)}});
  return {{"schema", 1}, {"kind", "strategies"}, {"version", version()}, {"strategies", list}};
}

}  // namespace

std::vector<Example> StrategiesCommand::examples() const {
  return {
      {"lockstep strategies", "each in two lines, with what it sends when, and what it keeps in memory"},
      {"lockstep strategies --json | python3 -m json.tool", "the same for programs"},
  };
}

std::vector<Flag> StrategiesCommand::flags() {
  return {{.names = "--json", .help = "print one JSON document", .set = turn_on(json_)}};
}

int StrategiesCommand::run(const Invocation& invocation) {
  invocation.console.print(json_ ? base::json_text(json_of_all(), 2) + "\n"
                                 : text_of_all(invocation.console));
  return 0;
}

}  // namespace lockstep::cli
