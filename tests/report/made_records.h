// Records made by hand: what a run would have left behind in a situation that a test wants told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/lab/study.h"
#include "lockstep/record/record.h"
#include "lockstep/report/build.h"

namespace lockstep::report {

struct MadeRun {
  int workers = 1;
  std::int64_t batch = 32;  // per worker
  std::string strategy = "ddp";
  std::string model = "lenet5";
  double data = 0.001, forward = 0.010, backward = 0.020, exposed = 0.0005,
         optimizer = 0.001;  // seconds a step
  double peer_wait = 0;      // of rank 0
  double busy = 0.002;
  int slow_rank = -1;         // whose own work takes twice as long
  double slow_rank_wait = 0;  // how long it waits for peers itself
  std::vector<double> losses = {0.9, 0.5, 0.3};
  double speed_factor = 1;  // multiplies the samples per second: noise between repeats
  int repeat = 1;
  int cores = 64;
  std::string host = "alpha";
  std::string scaling = "none";  // learning_rate_scaling
  double own_loss_factor =
      0;  // localsgd: the ranks' own validation loss over that of their average; 0: not averaged
  std::vector<double> val_losses = {};  // 1.1 times the training losses where empty
  std::string backend = "shm";
  bool recompute = false;
};

// A run that ended for want of memory, with the message that such runs leave.
record::RunRecord out_of_memory_run(const MadeRun& run);
// Seconds of the whole job by part; launch may be unknown.
record::RunRecord with_wall(record::RunRecord record, std::optional<double> launch, double load, double train,
                            double validate, double total);

record::RunRecord made_run(const MadeRun& run);
// Three repeats whose speeds differ by the given share to either side.
std::vector<record::RunRecord> repeated(const MadeRun& run, double noise);
void add(std::vector<record::RunRecord>& records, std::vector<record::RunRecord> more);

// A grid that has something for every table and chart: two strategies, batches 32 to 512, 1 to 8 workers,
// memory, ledgers, link peaks, utilisation, a target; on two machines a part of it on each.
std::vector<record::RunRecord> rich_records(bool two_machines);

// The study of B's table with its published figures and its false claim; records carry its cells.
lab::Study published_study();
std::vector<record::RunRecord> published_records();

Report report_of(std::vector<record::RunRecord> records, const lab::Study* study = nullptr,
                 std::vector<std::string> only = {});
// The findings of all sentences in order.
std::vector<std::string> findings(const Report& report);
// One worker, and four whose step differs from its in what the test changes.
Report one_against_four(const MadeRun& four, double noise = 0.01);
// Ranks that wait for each other most of their communication's time.
MadeRun waiting_ranks();
// Whether some sentence has the finding; its text, or empty.
std::string text_of_finding(const Report& report, const std::string& finding);
// The first sentence of that finding, or null.
const Sentence* sentence_of(const Report& report, const std::string& finding);

}  // namespace lockstep::report
