// The fixed parts of the HTML report: its style and its script.
#pragma once

#include <string>

namespace lockstep::report {

std::string page_style();
// Shows values under the pointer, lets legend entries hide their series, says which tables scroll, and opens
// everything for print. The page is complete without it.
std::string page_script();

}  // namespace lockstep::report
