// Numbers as people read them: one unit a column, four significant digits, thousands set apart. What programs
// read (JSON, CSV, the attributes of charts) is the plain number in its base unit, in its shortest exact
// form.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lockstep/report/model/number.h"

namespace lockstep::report {

// What a base unit ("s", "B", "B/s", "1/s", "%", "dB", "") is shown in, for numbers up to `largest`.
struct DisplayUnit {
  double divisor = 1;
  std::string name;
};
DisplayUnit display_unit(std::string_view unit, double largest);

// "1,234", "12.34", "0.001234", "1.2e-07".
std::string display_number(double value);
// All digits of a whole number: "188,160,000".
std::string display_exact(double value);
// "12.34 [12.1, 12.6]" in the unit; without an interval only the number. The ends of an interval as wide as
// half of the number or wider have two digits, and one that is infinite is "unbounded".
std::string display(const Number& number, const DisplayUnit& unit, bool exact);
// With its own unit: "12.3 ms".
std::string with_unit(double value, std::string_view unit);
// The same of both ends of an interval: "[12.1 ms, 12.6 ms]", "[1.2, unbounded]".
std::string with_unit(const base::Interval& interval, std::string_view unit);
// "45 %", "3.2 %".
std::string percent(double share);

// The shortest text that reads back into the same double; "nan", "infinity", "-infinity".
std::string exact_text(double value);

}  // namespace lockstep::report
