#include "lockstep/comm/rendezvous/verdict.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>

#include "lockstep/base/text.h"
#include "lockstep/base/units.h"

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;

int count_of(const Evidence& evidence) {
  return static_cast<int>(evidence.ranks.size());
}

const RankEvidence& evidence_of(const Evidence& evidence, int rank) {
  return evidence.ranks[static_cast<std::size_t>(rank)];
}

std::vector<int> ranks_where(const Evidence& evidence, auto condition) {
  std::vector<int> ranks;
  for (int rank = 0; rank < count_of(evidence); ++rank)
    if (condition(evidence_of(evidence, rank))) ranks.push_back(rank);
  return ranks;
}

// When a rank failed by its own fault; -1 when that is not known of it. A rank that reported another's
// failure or a timeout and then ended is no culprit.
int fault_order(const RankEvidence& rank) {
  if (rank.report) return tells_of_another(rank.report->kind) ? -1 : rank.report_order;
  return rank.gone_order;
}

constexpr rlim_t kUsualStackBytes = 8 << 20;
constexpr rlim_t kUsualOpenFiles = 1024;

// Of this process, and so of those it starts.
rlim_t limit_of(decltype(RLIMIT_STACK) what) {
  rlimit limit{};
  return ::getrlimit(what, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Few people set these, and libraries that meet one (the loader, Open MPI) do not say so.
std::string limits_that_are_set() {
  std::vector<std::string> limits;
  if (limit_of(RLIMIT_FSIZE) != RLIM_INFINITY)
    limits.push_back("a file may grow to " + base::format_bytes(limit_of(RLIMIT_FSIZE)) + ", see ulimit -f");
  if (limit_of(RLIMIT_AS) != RLIM_INFINITY)
    limits.push_back("a process may take " + base::format_bytes(limit_of(RLIMIT_AS)) +
                     " of memory, see ulimit -v");
  if (limit_of(RLIMIT_NOFILE) < kUsualOpenFiles)
    limits.push_back(fmt::format("a process may open {}, see ulimit -n", limit_of(RLIMIT_NOFILE)));
  return limits.empty() ? ""
                        : "It may have met a limit that is set here (" + base::join(limits, "; ") + "). ";
}

std::string likely_cause_of_exit(const std::string& how) {
  if (how.find("SIGKILL") != std::string::npos)
    return "Likely cause: the kernel was out of memory, or somebody used kill -9. Next step: look for its "
           "name "
           "in dmesg, or give each worker less memory to fill.";
  if (how.find("SIGSEGV") != std::string::npos && limit_of(RLIMIT_STACK) < kUsualStackBytes)
    return fmt::format(
        "Likely cause: its stack, which may grow to {} here (ulimit -s), was too small. Next step: "
        "ulimit -s {}.",
        base::format_bytes(limit_of(RLIMIT_STACK)), kUsualStackBytes / 1024);
  for (const char* signal : {"SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"})
    if (how.find(signal) != std::string::npos)
      return limits_that_are_set() + "Likely cause: a fault in the program. Next step: run it in a debugger.";
  if (how.find("signal") != std::string::npos) return "Likely cause: somebody ended it on purpose.";
  if (how.find("was killed") != std::string::npos)  // by what, nobody tells
    return limits_that_are_set() +
           "Likely cause: it crashed, the kernel was out of memory, or somebody ended it. Next step: look "
           "for "
           "its name in dmesg.";
  return limits_that_are_set() + "Next step: read what it wrote last.";
}

std::string gone_text(const RankEvidence& rank) {
  if (rank.exit) return *rank.exit;
  return "is gone: its connection was lost without a goodbye";
}

Verdict blame_gone(const Evidence& evidence, int culprit) {
  const RankEvidence& rank = evidence_of(evidence, culprit);
  std::string message = fmt::format("rank {} {}", culprit, gone_text(rank));
  if (!rank.arrived) {
    message += " before it joined the run";
  } else if (count_of(evidence) > 1) {
    message += " while " + positions_text(evidence, {culprit});
  }
  message += rank.exit ? ". " + likely_cause_of_exit(*rank.exit)
                       : ". Likely cause: it crashed or was killed, or its host went down. Next step: read "
                         "what it wrote last.";
  return {culprit, Kind::failed, base::ExitCode::run_failed, message};
}

// The report's own words, with the rank in front unless they begin with it.
std::string told_by(int rank, const std::string& message) {
  const std::string prefix = fmt::format("rank {}", rank);
  return message.starts_with(prefix) ? message : prefix + ": " + message;
}

bool any_operation_begun(const Evidence& evidence) {
  return std::any_of(evidence.ranks.begin(), evidence.ranks.end(), [](const RankEvidence& rank) {
    return rank.position && !rank.position->description.empty();
  });
}

Verdict blame_report(const Evidence& evidence, int culprit) {
  const FailureReport& report = *evidence_of(evidence, culprit).report;
  std::string message = told_by(culprit, report.message);
  if (report.kind == Kind::disagreement && any_operation_begun(evidence))
    message += ". When it was found, " + positions_text(evidence, {}) + ".";
  return {culprit, report.kind, report.exit_code, message};
}

// Operations in which root and others name different sizes: the size says nothing there.
std::string comparable(const OperationStatus& position) {
  const std::string& text = position.description;
  const bool sizes_differ = text.starts_with("gather ") || text.starts_with("scatter ");
  const std::size_t from = text.find(" of ");
  const std::size_t to = text.find(" with ");
  const std::string kept =
      sizes_differ && from < to && to != std::string::npos ? text.substr(0, from) + text.substr(to) : text;
  return fmt::format("{} #{}", kept, position.sequence);
}

bool all_in_the_same(const Evidence& evidence) {
  std::optional<std::string> first;
  for (const RankEvidence& rank : evidence.ranks) {
    const std::string mine = comparable(*rank.position);
    if (first && *first != mine) return false;
    first = mine;
  }
  return true;
}

// The lowest rank of the smallest group of ranks in one operation, when a larger group outvotes it; else -1.
int odd_one_out(const Evidence& evidence) {
  std::map<std::string, std::vector<int>> groups;
  for (int rank = 0; rank < count_of(evidence); ++rank)
    groups[comparable(*evidence_of(evidence, rank).position)].push_back(rank);
  const auto [least, most] =
      std::minmax_element(groups.begin(), groups.end(),
                          [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return least->second.size() < most->second.size() ? least->second.front() : -1;
}

// What the rank itself says it was about: words in front of its message, "while adding up bucket 1: ...".
std::string occupation(const std::string& message) {
  return message.starts_with("while ") ? " " + message.substr(0, message.find(": ")) : "";
}

std::string waited_text(const Evidence& evidence, int waiter) {
  const FailureReport& report = *evidence_of(evidence, waiter).report;
  const OperationStatus& position = report.position;
  if (!position.running) return told_by(waiter, report.message);
  return fmt::format("rank {} waited {} in {}{}", waiter, base::format_duration(position.since),
                     operation_text(position), occupation(report.message));
}

Verdict timed_out(int rank, std::string message) {
  return {rank, Kind::timed_out, base::ExitCode::timed_out, std::move(message)};
}

Verdict blame_silent(const std::vector<int>& silent, const std::string& how_it_was_noticed) {
  return timed_out(
      silent.front(),
      fmt::format("{} {} not answer (stopped, or the host is down): {}. Next step: look at that process; a "
                  "stopped one (state T) goes on with kill -CONT.",
                  rank_list(silent), silent.size() == 1 ? "does" : "do", how_it_was_noticed));
}

// Nobody waits for them: they may be the only ones left.
Verdict blame_unheard(const Evidence& evidence, const std::vector<int>& silent) {
  std::string noticed = fmt::format("nothing was heard for {}",
                                    base::format_duration(*evidence_of(evidence, silent.front()).silent));
  if (count_of(evidence) > static_cast<int>(silent.size()))
    noticed += ", and " + positions_text(evidence, silent);
  return blame_silent(silent, noticed);
}

std::string absence_text(const RankEvidence& rank) {
  if (rank.finished) return "it has finished already";
  if (!rank.arrived) return "it never joined the run";
  if (rank.position->description.empty()) return "it has not begun any operation";
  return fmt::format("its last operation was {}, ended {} ago", operation_text(*rank.position),
                     base::format_duration(rank.position->since));
}

Verdict blame_absent(const Evidence& evidence, int waiter, const std::vector<int>& absent) {
  std::vector<std::string> parts;
  for (const int rank : absent)
    parts.push_back(
        fmt::format("rank {} has not arrived: {}", rank, absence_text(evidence_of(evidence, rank))));
  if (parts.size() > 8) parts.resize(8);
  return timed_out(
      absent.front(),
      fmt::format("{}; {}. Likely cause: it is still busy (a longer --timeout helps), or it took "
                  "another way through the program.",
                  waited_text(evidence, waiter), base::join(parts, "; ")));
}

Verdict blame_disagreement(const Evidence& evidence) {
  return {odd_one_out(evidence), Kind::disagreement, base::ExitCode::timed_out,
          fmt::format("ranks disagree: {}. Likely cause: they took different ways through the program. Every "
                      "rank must give the same operations, with the same count and type, in the same order.",
                      positions_text(evidence, {}))};
}

Verdict explain_timeout(const Evidence& evidence, int waiter) {
  const auto silent = ranks_where(
      evidence, [](const RankEvidence& r) { return r.arrived && !r.finished && r.asked && !r.position; });
  if (!silent.empty()) return blame_silent(silent, waited_text(evidence, waiter));
  if (!evidence_of(evidence, waiter).report->position.running)
    return timed_out(waiter, told_by(waiter, evidence_of(evidence, waiter).report->message));
  const auto absent = ranks_where(evidence, [](const RankEvidence& r) {
    return r.finished || !r.arrived || (r.position && !r.position->running);
  });
  if (!absent.empty()) return blame_absent(evidence, waiter, absent);
  const bool all_known =
      std::all_of(evidence.ranks.begin(), evidence.ranks.end(), [](const auto& r) { return r.position; });
  if (all_known && !all_in_the_same(evidence)) return blame_disagreement(evidence);
  return timed_out(waiter, fmt::format("{}, although every rank is in it: {}. {}Likely cause: a link that is "
                                       "slow or blocked, or a timeout too short for this size (--timeout).",
                                       waited_text(evidence, waiter), positions_text(evidence, {}),
                                       limits_that_are_set()));
}

// A rank lost a peer and no rank tells of a failure of its own: the one that keeps silent is the likeliest.
Verdict explain_lost_peer(const Evidence& evidence, int victim) {
  const auto silent = ranks_where(
      evidence, [](const RankEvidence& r) { return r.arrived && !r.finished && r.asked && !r.position; });
  const FailureReport& report = *evidence_of(evidence, victim).report;
  std::string message = told_by(victim, report.message);
  message += silent.empty() ? ". All ranks still answer the run's server: look at the network between them."
                            : ". " + rank_list(silent) + " did not answer (stopped, or the host is down).";
  return {silent.empty() ? victim : silent.front(), Kind::peer_lost, report.exit_code, message};
}

}  // namespace

bool tells_of_another(Kind kind) {
  return kind == Kind::peer_lost || kind == Kind::collateral || kind == Kind::timed_out;
}

std::optional<int> first_culprit(const Evidence& evidence) {
  std::optional<int> first;
  for (int rank = 0; rank < count_of(evidence); ++rank) {
    const int order = fault_order(evidence_of(evidence, rank));
    if (order >= 0 && (!first || order < fault_order(evidence_of(evidence, *first)))) first = rank;
  }
  return first;
}

std::optional<int> first_report(const Evidence& evidence, Kind kind) {
  std::optional<int> first;
  for (int rank = 0; rank < count_of(evidence); ++rank) {
    const RankEvidence& mine = evidence_of(evidence, rank);
    if (!mine.report || mine.report->kind != kind) continue;
    if (!first || mine.report_order < evidence_of(evidence, *first).report_order) first = rank;
  }
  return first;
}

Verdict decide(const Evidence& evidence) {
  if (evidence.end) return {-1, Kind::failed, evidence.end->exit_code, evidence.end->reason};
  if (const auto culprit = first_culprit(evidence))
    return evidence_of(evidence, *culprit).report ? blame_report(evidence, *culprit)
                                                  : blame_gone(evidence, *culprit);
  if (const auto waiter = first_report(evidence, Kind::timed_out)) return explain_timeout(evidence, *waiter);
  const auto unheard = ranks_where(evidence, [](const RankEvidence& r) { return r.silent.has_value(); });
  if (!unheard.empty()) return blame_unheard(evidence, unheard);
  if (const auto victim = first_report(evidence, Kind::peer_lost))
    return explain_lost_peer(evidence, *victim);
  if (const auto victim = first_report(evidence, Kind::collateral)) return blame_report(evidence, *victim);
  return {-1, Kind::failed, base::ExitCode::run_failed, "the run failed for a reason no rank told"};
}

Verdict missing_ranks(const std::vector<int>& missing, int world, base::Nanoseconds waited) {
  return timed_out(
      missing.empty() ? -1 : missing.front(),
      fmt::format(
          "{} of {} did not arrive within {}. {}Likely cause: never started, ended before joining, or "
          "started with another address, port or key. Next step: look at {} first, or give ranks "
          "that start slowly more time (--join-timeout).",
          rank_list(missing), world, base::format_duration(waited), limits_that_are_set(),
          missing.size() == 1 ? "that rank's output" : "those ranks' output"));
}

}  // namespace lockstep::comm
