// Why a run ended: what the server came to know about every rank, and the one sentence it makes of it. Pure
// functions; who waits how long for which evidence is inquiry.h's business.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/comm/operation_board.h"

namespace lockstep::comm {

// Decided once, by the first failure that reached the server and what followed it at once.
struct Verdict {
  int rank = -1;  // the first failing rank; -1 when none can be named
  base::CommError::Kind kind = base::CommError::Kind::failed;
  base::ExitCode exit_code = base::ExitCode::run_failed;
  std::string message;  // names rank, operation, likely cause and next step; one paragraph
};

// Thrown by a rank whose run the server has ended.
struct RunEnded : base::CommError {
  explicit RunEnded(Verdict why) : CommError(why.kind, why.message), verdict(std::move(why)) {}
  Verdict verdict;
};

// A rank's own word about its failure, and where it was.
struct FailureReport {
  base::CommError::Kind kind = base::CommError::Kind::failed;
  base::ExitCode exit_code = base::ExitCode::run_failed;
  std::string message;
  OperationStatus position;
};

// What is known about one rank. `*_order` says which came first of all ranks' evidence; -1: has not come.
struct RankEvidence {
  bool arrived = false;
  bool finished = false;  // it said goodbye
  bool asked = false;     // where it is
  std::optional<OperationStatus> position;
  std::optional<FailureReport> report;
  int report_order = -1;
  std::optional<std::string> exit;          // how its process ended: "was killed by signal 9 (SIGKILL)"
  int gone_order = -1;                      // its process ended or its connection was lost
  std::optional<base::Nanoseconds> silent;  // it does not answer, for so long when that was noticed
};

// The end that somebody outside the ranks asked for.
struct EndRequest {
  std::string reason;
  base::ExitCode exit_code = base::ExitCode::run_failed;
};

struct Evidence {
  std::vector<RankEvidence> ranks;
  std::optional<EndRequest> end;
};

// Whether a report of this kind tells of another rank's failure rather than of its own.
bool tells_of_another(base::CommError::Kind kind);

// The rank that failed first by its own fault, as far as is known: it reported an error of its own, or it is
// gone without a report.
std::optional<int> first_culprit(const Evidence& evidence);
// The rank whose report of this kind came first.
std::optional<int> first_report(const Evidence& evidence, base::CommError::Kind kind);

Verdict decide(const Evidence& evidence);

// The verdict when ranks have not arrived in time.
Verdict missing_ranks(const std::vector<int>& missing, int world, base::Nanoseconds waited);

// The first rank that a verdict's message blames, for who has heard the words alone.
std::optional<int> culprit_in(const std::string& message);

// "rank 3", "ranks 0 and 1", "ranks 0, 2 and 4-7".
std::string rank_list(const std::vector<int>& ranks);
// "all_reduce #42 (sum) of 1024 f32 over gloo".
std::string operation_text(const OperationStatus& position);
// "rank 0 was in ..., rank 1 was between operations ...", equal positions together, without the ranks in
// `without`.
std::string positions_text(const Evidence& evidence, const std::vector<int>& without);

}  // namespace lockstep::comm
