// The axes of records that no study explains: the fields in which their specs differ.
#pragma once

#include "lockstep/report/model/grid.h"

namespace lockstep::report {

// In a fixed order: what, how, batch, then the rest by name. Seeds and what says where files lie are no axes.
std::vector<std::string> differing_fields(const std::vector<record::RunRecord>& records);
// A field of the spec as text; empty where it is not there.
std::string field_text(const record::RunRecord& record, const std::string& field);
// The same of an axis. Specs say the batch in one of two ways, and may leave it out: the record knows both.
std::string axis_text(const record::RunRecord& record, const std::string& field);
// Numbers by size, then words by name.
void sort_values(std::vector<std::string>& values);

}  // namespace lockstep::report
