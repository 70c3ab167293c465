#include "lockstep/launch/failure_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/exit_code.h"

namespace lockstep::launch {
namespace {

std::string collateral_line(const std::vector<int>& ranks) {
  constexpr std::size_t kMostNamed = 16;
  if (ranks.size() == 1) return fmt::format("rank {} was ended because of it", ranks.front());
  if (ranks.size() > kMostNamed) return fmt::format("{} other ranks were ended because of it", ranks.size());
  return fmt::format("ranks {} were ended because of it", fmt::join(ranks, ", "));
}

// A reader who looks for lines must not think that they were lost.
std::string silence_line(const FailureFacts& facts) {
  const std::string line = fmt::format("rank {} wrote nothing", facts.rank);
  return facts.log_directory.empty() ? line + ", nor did any other rank: there are no logs" : line;
}

std::string closing_line(const FailureFacts& facts) {
  const std::string logs =
      facts.log_directory.empty() ? std::string() : "the ranks' logs are in " + facts.log_directory.string();
  if (facts.collateral.empty()) return logs;
  return logs.empty() ? collateral_line(facts.collateral) : collateral_line(facts.collateral) + "; " + logs;
}

}  // namespace

std::vector<std::string> failure_report(const FailureFacts& facts) {
  std::vector<std::string> report = {"error: " + facts.message};
  if (facts.rank >= 0)
    report.push_back(facts.last_lines.empty() ? silence_line(facts)
                                              : fmt::format("the last lines of rank {}:", facts.rank));
  for (const std::string& line : facts.last_lines) report.push_back("    " + line);
  if (const std::string closing = closing_line(facts); !closing.empty()) report.push_back(closing);
  return report;
}

bool is_own_exit_code(int code) {
  using base::ExitCode;
  const auto own = {ExitCode::usage,
                    ExitCode::bad_configuration,
                    ExitCode::missing,
                    ExitCode::threshold_missed,
                    ExitCode::verification_failed,
                    ExitCode::timed_out};
  return std::any_of(own.begin(), own.end(), [code](ExitCode one) { return static_cast<int>(one) == code; });
}

bool has_explained_itself(const ExitStatus& status, const std::vector<std::string>& last_lines) {
  if (status.kind != ExitStatus::Kind::exited || !is_own_exit_code(status.number)) return false;
  return std::any_of(last_lines.begin(), last_lines.end(),
                     [](const std::string& line) { return line.starts_with("error: "); });
}

int exit_code_of_failure(int verdict_code, const std::optional<ExitStatus>& first_failing) {
  const bool says_more = first_failing && first_failing->kind == ExitStatus::Kind::exited &&
                         is_own_exit_code(first_failing->number);
  if (verdict_code != static_cast<int>(base::ExitCode::run_failed) || !says_more) return verdict_code;
  return first_failing->number;
}

}  // namespace lockstep::launch
