// A whole report: what every format is written from.
#pragma once

#include <string>
#include <vector>

#include "lockstep/report/model/chart.h"
#include "lockstep/report/model/sentence.h"
#include "lockstep/report/model/table.h"

namespace lockstep::report {

struct PublishedNote {
  std::string name;
  std::string source;
  std::string definition;
};

struct Report {
  std::string first_line;  // how much of the study this is, and what a quick variant cut
  std::string title;
  std::string notes;             // of the study
  std::vector<Paragraph> words;  // a paragraph for each question, then the rest
  std::vector<Table> tables;
  std::vector<Chart> charts;
  std::vector<PublishedNote> published;  // definitions of the published columns
  std::vector<std::string> warnings;     // of runs and of the report itself
  std::vector<std::string> machines;     // that made the records
  std::size_t run_count = 0;
};

}  // namespace lockstep::report
