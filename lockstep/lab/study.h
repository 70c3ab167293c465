// A study: a grid of runs and the questions it answers. Plain data, as study files (docs/studies.md) say it;
// study_parse.h reads it, study_cells.h makes its cells, report draws what it asks for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/record/spec.h"

namespace lockstep::lab {

// A field of a RunSpec and what was written for it; `place` leads complaints: "psnr.yaml:12:5: ".
struct FieldSetting {
  std::string field;
  std::string text;
  std::string place;
};

// A value of an axis: one field for a plain axis, several for a named one.
struct AxisValue {
  std::string label;
  std::vector<FieldSetting> sets;
  std::string place;
};

struct Axis {
  std::string name;  // a field's, or the study's own word where values set several fields
  std::vector<AxisValue> values;
  std::string place;
};

// Where on an axis a cell, an exclusion or a published figure lies.
struct AxisPoint {
  std::string axis;
  std::string value;
  bool operator==(const AxisPoint&) const = default;
};

// Cells that lie at one of the values on every axis named here are left out.
struct Exclusion {
  std::map<std::string, std::vector<std::string>> where;
  std::string why;
};

struct Repeats {
  int least = 1;
  int most = 1;
};

// A cell is repeated until the 95 % interval of this figure is at most this share of it to either side.
struct IntervalGoal {
  std::string figure = "step_seconds";  // of run_figures.h
  double relative = 0.05;
};

// An axis that is climbed value by value while it pays: a cell runs once the value before it has run, and
// is left out once the figure has become better by less than `least_gain` or memory has ended. Values up to
// and with `always` run in any case.
struct Ladder {
  std::string axis;
  std::string figure = "samples_per_second";
  double least_gain = 0.05;
  std::string always;  // empty: the first value
};

// What a study wants reached: the report says after how many epochs and seconds. (A run stops at the target
// of its spec; these do not stop it.)
struct Target {
  std::string figure;  // "train_loss", "val_loss", "val_accuracy" or "val_psnr"
  double value = 0;
};

struct PublishedValue {
  std::vector<AxisPoint> at;
  double value = 0;
};

// A column somebody else published, to stand beside ours and marked as theirs.
struct Published {
  std::string name;        // their word for it
  std::string source;      // who, where
  std::string definition;  // what it truly is
  std::string unit;
  std::string figure;  // ours that it is comparable with (run_figures.h); empty: none is
  std::vector<PublishedValue> values;
};

// A sentence somebody published: that `figure` of the published column is lower at one point than at another.
// Where the published values say otherwise it is not to be repeated.
struct Claim {
  std::string text;
  std::string source;
  std::string column;  // Published::name
  std::vector<AxisPoint> lower;
  std::vector<AxisPoint> higher;
};

// What a study was asked for besides its file.
struct StudyChoice {
  bool quick = false;
  std::vector<FieldSetting> sets;  // --set: fields of the base, or all values of an axis with commas
};

struct Study {
  std::string name;
  std::string title;
  std::vector<std::string> questions;
  std::string notes;

  record::RunSpec base;
  std::vector<FieldSetting> base_fields;  // what the file and --set wrote, in order
  std::vector<Axis> axes;                 // in the file's order
  std::vector<Exclusion> exclusions;
  std::optional<Ladder> ladder;
  bool list_impossible = false;  // impossible combinations are listed as such instead of refused

  Repeats repeats;
  bool vary_seed = false;  // repeat r draws from seed + r - 1, so that intervals of quality mean something
  std::optional<IntervalGoal> interval;
  std::optional<base::Nanoseconds> budget;       // of the whole study
  std::optional<base::Nanoseconds> cell_budget;  // of all repeats of a cell
  std::vector<Target> targets;

  std::vector<std::string> tables;  // of study_views.h, in the order in which the report shows them
  std::vector<std::string> charts;
  std::vector<Published> published;
  std::vector<Claim> claims;

  // A data set that is not on this machine and what stands in for it; a model of the quick variant likewise.
  std::map<std::string, std::string> data_stand_ins;
  std::map<std::string, std::vector<FieldSetting>> model_stand_ins;
  std::string cut;  // what the quick variant leaves out, a sentence; empty for the whole study

  // What it was made from, so that a store can keep it.
  std::string file_name;
  std::string source_text;
  StudyChoice choice;

  // What records carry as `study`: the quick variant is a study of its own.
  std::string id() const { return choice.quick ? name + "-quick" : name; }
};

}  // namespace lockstep::lab
